// The thin program up to its first delegate; with real plugins: tests/node/test_thin.py.
#include "thin/thin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::thin {
namespace {

using testing::HasSubstr;

class ThinTest : public testing::Test {
 protected:
  int run(const std::string& command, std::string config) {
    env["CNI_COMMAND"] = command;
    out.clear();
    err.clear();
    Surroundings around;
    around.front.env = [this](std::string_view name) -> std::optional<std::string> {
      const auto found = env.find(std::string(name));
      return found == env.end() ? std::nullopt : std::optional<std::string>(found->second);
    };
    around.front.read_stdin = [config] { return Result<std::string>(config); };
    around.front.write_stdout = [this](std::string_view text) {
      out += text;
      return Result<void>();
    };
    around.front.write_stderr = [this](std::string_view text) { err += text; };
    around.random = [] { return 1; };
    return thin::run(around);
  }
  std::string conf(const std::string& more) const {
    return cat(R"({"cniVersion":"1.1.0","name":"n","type":"multus","logToStderr":false,"cniDir":")",
               dir / "cni", R"(","logFile":")", dir / "log", R"(","logLevel":"error")", more, "}");
  }

  const sys::TestDir dir;
  std::map<std::string, std::string> env{{"CNI_CONTAINERID", "c1"},
                                         {"CNI_NETNS", "/none"},
                                         {"CNI_IFNAME", "eth0"},
                                         {"CNI_PATH", "/none"}};
  std::string out, err;
};

constexpr const char* kDelegates = R"(,"delegates":[{"cniVersion":"1.0.0","name":"a","type":"x"}])";

// 02, 3.3: no file is touched at the word of a tenant's text.
TEST_F(ThinTest, DoesNothingForADelegateOfMultus) {
  env["MULTUS_REQUEST_ID"] = "0000000000000abc";
  for (const char* command : {"ADD", "CHECK", "STATUS", "GC"}) {
    EXPECT_EQ(run(command, conf(kDelegates)), 1) << command;
    EXPECT_THAT(out, HasSubstr("was started by a delegate of Multus")) << command;
  }
  EXPECT_EQ(run("DEL", conf(kDelegates)), 0) << out;
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST_F(ThinTest, RefusesToGoOnWithoutTheApiThatItIsToldOf) {
  for (const char* command : {"ADD", "CHECK", "STATUS", "GC"}) {
    EXPECT_EQ(run(command, conf(cat(kDelegates, R"(,"kubeconfig":"/k")"))), 1) << command;
    EXPECT_THAT(out, HasSubstr("\"code\": 7")) << command;
    EXPECT_THAT(out, HasSubstr("Multus: error getting k8s client: kubeconfig: open /k: no such"));
  }
  env["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
  env["KUBERNETES_SERVICE_PORT"] = "443";
  EXPECT_EQ(run("STATUS", conf(kDelegates)), 1);
  EXPECT_THAT(out, HasSubstr("service account token"));
  EXPECT_FALSE(std::filesystem::exists(dir / "cni"));
}

TEST_F(ThinTest, DeletesWithoutAnApi) {
  EXPECT_EQ(run("DEL", conf(cat(kDelegates, R"(,"kubeconfig":"/k")"))), 0) << out;

  EXPECT_THAT(sys::read_file(dir / "log").value(),
              HasSubstr("[error] warning: Multus: error getting k8s client: kubeconfig: open"));
  EXPECT_THAT(sys::read_file(dir / "log").value(), HasSubstr(" request=0000000000000001\n"));
}

TEST_F(ThinTest, SaysWhatIsWrongWithItsConfiguration) {
  EXPECT_EQ(run("ADD", conf("")), 1);
  EXPECT_THAT(out, HasSubstr("at least one delegate/clusterNetwork must be specified"));
  EXPECT_EQ(run("ADD", conf(R"(,"objectsDir":5)")), 1);
  EXPECT_THAT(out, HasSubstr("error loading netconf"));
  EXPECT_THAT(out, HasSubstr("objectsDir"));
}

TEST_F(ThinTest, LeavesNoLockBehind) {
  EXPECT_EQ(run("ADD", conf(kDelegates)), 1);
  EXPECT_THAT(out, HasSubstr("no net namespace /none found"));

  EXPECT_TRUE(sys::list_directory(dir / "cni/_locks").value().empty());
}

// 02, 12: row 144
TEST_F(ThinTest, ComplainsOfAnUnknownLevel) {
  std::string text = conf(kDelegates);
  text.replace(text.find(R"("error")"), 7, R"("xx")");

  EXPECT_EQ(run("DEL", text), 0) << out;

  EXPECT_EQ(err, "multus logging: cannot set logging level to xx\n");
}

}  // namespace
}  // namespace mnet::thin
