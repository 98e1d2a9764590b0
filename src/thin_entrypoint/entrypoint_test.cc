#include "thin_entrypoint/entrypoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/group.h"
#include "aio/run.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/try.h"
#include "json/json.h"
#include "sys/file.h"
#include "sys/test_dir.h"
#include "thin_entrypoint/options.h"

namespace mnet::thin_entrypoint {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr const char* kPem = "-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n";
constexpr const char* kPrimary = R"({"cniVersion":"0.3.1","name":"n","type":"t"})";

aio::Task<void> await(std::function<bool()> condition) {
  while (!condition()) {
    MNET_CO_TRY_VOID(co_await aio::sleep_for(1ms));
  }
  co_return Result<void>();
}

// A node and a pod's folders in one directory.
struct Node {
  sys::TestDir dir;
  std::vector<std::string> words{"--cni-bin-dir=" + (dir / "bin"),
                                 "--cni-conf-dir=" + (dir / "net.d"),
                                 "--multus-autoconfig-dir=" + (dir / "net.d"),
                                 "--multus-cni-conf-dir=" + (dir / "multus/net.d"),
                                 "--multus-bin-file=" + (dir / "image/multus")};
  std::vector<std::string> told, complained;
  aio::asio::io_context loop{1};
  std::unique_ptr<Entrypoint> entrypoint;
  std::unique_ptr<aio::Group> group;

  Node() {
    fs::create_directories(dir / "bin");
    fs::create_directories(dir / "net.d");
    dir.write("image/multus", "program", 0755);
    dir.write("account/token", "first");
    dir.write("account/ca.crt", kPem);
    dir.write("net.d/10-primary.conf", kPrimary);
  }
  ~Node() { stop(); }

  void stop() {
    if (!group) return;
    group->cancel();
    EXPECT_TRUE(aio::run(loop, group->join()).has_value());
    group.reset();
  }

  Result<void> set_up(std::vector<std::string> more = {}) {
    words.insert(words.end(), more.begin(), more.end());
    Surroundings around;
    around.environment = {"KUBERNETES_SERVICE_HOST=fd00::1", "KUBERNETES_SERVICE_PORT=443"};
    around.service_account = dir / "account";
    around.tell = [this](std::string_view line) { told.emplace_back(line); };
    around.complain = [this](std::string_view line) { complained.emplace_back(line); };
    around.settle = around.rest = 5ms;
    Options options;
    EXPECT_TRUE(make_flags(options).parse(words).has_value());
    entrypoint = std::make_unique<Entrypoint>(std::move(options), around);
    return entrypoint->set_up();
  }

  void start(std::vector<std::string> more = {}) {
    const auto done = set_up(std::move(more));
    ASSERT_TRUE(done.has_value()) << done.error().text();
    group = std::make_unique<aio::Group>(loop.get_executor(), Log());
    group->spawn("follow", entrypoint->follow());
  }

  [[nodiscard]] bool until(std::function<bool()> condition) {
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    return aio::run(loop, aio::with_deadline(await(std::move(condition)), deadline)).has_value();
  }

  std::string text(const std::string& name) const {
    return sys::read_file(dir / name).value_or("");
  }
  bool has(const std::string& name) const { return fs::exists(dir / name); }
  bool file_says(const std::string& name, std::string_view what) const {
    return text(name).find(what) != std::string::npos;
  }
};

constexpr const char* kKubeconfig = "net.d/multus.d/multus.kubeconfig";

unsigned mode_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777u;
}

TEST(Entrypoint, PutsProgramKubeconfigAndConfigurationInPlace) {
  Node node;

  const auto done = node.set_up();

  ASSERT_TRUE(done.has_value()) << done.error().text();
  EXPECT_EQ(node.text("bin/multus"), "program");
  EXPECT_EQ(mode_of(node.dir / "bin/multus"), 0755u);
  EXPECT_EQ(mode_of(node.dir / kKubeconfig), 0600u);
  EXPECT_EQ(mode_of(node.dir / "net.d/multus.d"), 0755u);
  EXPECT_EQ(mode_of(node.dir / "multus/net.d"), 0755u);
  EXPECT_THAT(node.text(kKubeconfig), HasSubstr("token: \"first\""));
  EXPECT_THAT(node.text(kKubeconfig), HasSubstr("https://[fd00::1]:443"));
  EXPECT_EQ(mode_of(node.dir / "net.d/00-multus.conf"), 0600u);
  EXPECT_TRUE(json::parse_object(node.text("net.d/00-multus.conf")).has_value());
  EXPECT_THAT(node.told, ElementsAre("kubeconfig is created in " + (node.dir / kKubeconfig),
                                     "multus config file is created."));
}

TEST(Entrypoint, CanBeRunAgain) {
  Node node;
  ASSERT_TRUE(node.set_up().has_value());
  ASSERT_TRUE(node.set_up().has_value());

  EXPECT_THAT(node.told, SizeIs(4));
  EXPECT_THAT(*sys::list_directory(node.dir / "bin"), SizeIs(1));
}

TEST(Entrypoint, CopiesAConfigurationThatIsGiven) {
  Node node;
  node.dir.write("given/70-multus.conf", "{}", 0640);

  ASSERT_TRUE(node.set_up({"--multus-conf-file=" + (node.dir / "given/70-multus.conf")}));

  EXPECT_EQ(node.text("net.d/70-multus.conf"), "{}");
  EXPECT_EQ(mode_of(node.dir / "net.d/70-multus.conf"), 0640u);
  EXPECT_FALSE(node.has("net.d/00-multus.conf"));
  EXPECT_THAT(node.told.back(), HasSubstr("70-multus.conf is copied."));
}

TEST(Entrypoint, LeavesTheProgramAloneIfAskedTo) {
  Node node;

  ASSERT_TRUE(node.set_up({"--skip-multus-binary-copy"}).has_value());

  EXPECT_FALSE(node.has("bin/multus"));
}

// 03, 12: row 151
TEST(Entrypoint, ChangesNothingIfSomethingIsMissing) {
  for (const std::string word :
       {"--cni-conf-dir=/none", "--cni-bin-dir=/none", "--multus-bin-file=/none",
        "--multus-conf-file=/none", "--multus-bin-file=/", "--multus-log-level=loud"}) {
    Node node;
    const auto done = node.set_up({word});

    ASSERT_FALSE(done.has_value()) << word;
    EXPECT_THAT(done.error().text(), HasSubstr(word.substr(word.find('=') + 1)));
    EXPECT_FALSE(node.has("bin/multus"));
    EXPECT_FALSE(node.has("net.d/multus.d"));
  }
}

TEST(Entrypoint, NeedsAServiceAccountToBegin) {
  Node node;
  fs::remove(node.dir / "account/token");

  EXPECT_THAT(node.set_up().error().text(), HasSubstr("account/token"));
  EXPECT_FALSE(node.has(kKubeconfig));
}

// 03, 12: row 152
TEST(Entrypoint, FollowsTheTokenWithDefaultFlagsAlsoThroughASwappedLink) {
  Node node;
  fs::remove_all(node.dir / "account");
  for (const std::string name : {"first", "second"}) {
    node.dir.write("account/.." + name + "/token", name);
    node.dir.write("account/.." + name + "/ca.crt", kPem);
  }
  fs::create_symlink("..first", node.dir / "account/..data");
  fs::create_symlink("..data/token", node.dir / "account/token");
  fs::create_symlink("..data/ca.crt", node.dir / "account/ca.crt");
  node.start();

  fs::create_symlink("..second", node.dir / "account/..data_tmp");
  fs::rename(node.dir / "account/..data_tmp", node.dir / "account/..data");

  EXPECT_TRUE(node.until([&] { return node.file_says(kKubeconfig, "token: \"second\""); }));
  EXPECT_EQ(mode_of(node.dir / kKubeconfig), 0600u);
}

TEST(Entrypoint, KeepsTheKubeconfigWhileTheAccountIsNotWhole) {
  Node node;
  node.start();
  const std::string before = node.text(kKubeconfig);

  node.dir.write("account/token", "");
  EXPECT_TRUE(node.until([&] { return node.complained.size() == 1; }));
  fs::remove_all(node.dir / "account");
  EXPECT_TRUE(node.until([&] { return node.complained.size() == 2; }));
  EXPECT_EQ(node.text(kKubeconfig), before);
  EXPECT_THAT(node.complained.back(), HasSubstr("kubeconfig stays as it is"));
  node.dir.write("account/ca.crt", kPem);
  node.dir.write("account/token", "third");

  EXPECT_TRUE(node.until([&] { return node.file_says(kKubeconfig, "third"); }));
  EXPECT_THAT(node.told, Contains("kubeconfig is current again"));
}

TEST(Entrypoint, PutsBackWhatSomebodyRemoved) {
  Node node;
  node.start();

  fs::remove_all(node.dir / "net.d/multus.d");
  fs::remove(node.dir / "net.d/00-multus.conf");

  EXPECT_TRUE(
      node.until([&] { return node.has(kKubeconfig) && node.has("net.d/00-multus.conf"); }));
}

// 03, 12: row 153
TEST(Entrypoint, LeavesOnlyOneOfTheTwoFiles) {
  Node node;
  node.start();
  ASSERT_TRUE(node.has("net.d/00-multus.conf"));

  node.dir.write("net.d/10-primary.conf", R"({"cniVersion":"1.0.0","name":"n","type":"t"})");

  EXPECT_TRUE(node.until(
      [&] { return node.has("net.d/00-multus.conflist") && !node.has("net.d/00-multus.conf"); }));
}

// Else each would wait for the other: the daemon is not ready without its file, and while it is not
// ready a roll-out keeps the pod of thin multus.
TEST(Entrypoint, LeavesTheFileOfADaemonThatTakesItsPlace) {
  Node node;
  node.start();
  node.dir.write("net.d/10-primary.conf", R"({"cniVersion":"1.0.0","name":"n","type":"t"})");
  ASSERT_TRUE(node.until([&] { return !node.has("net.d/00-multus.conf"); }));

  node.dir.write("net.d/00-multus.conf", R"({"name":"m","type":"multus-shim"})");
  fs::remove(node.dir / "net.d/00-multus.conflist");

  EXPECT_TRUE(node.until([&] { return node.has("net.d/00-multus.conflist"); }));
  EXPECT_TRUE(node.has("net.d/00-multus.conf"));
}

TEST(Entrypoint, AnEarlierFileTakesOver) {
  Node node;
  node.start();

  node.dir.write("net.d/05-new.conf", R"({"cniVersion":"0.3.1","name":"new","type":"t"})");

  EXPECT_TRUE(node.until([&] { return node.file_says("net.d/00-multus.conf", "\"new\""); }));
}

TEST(Entrypoint, WaitsForAPrimaryThatIsGoneOrBrokenAndKeepsTheLastGoodFile) {
  Node node;
  node.start();
  const std::string before = node.text("net.d/00-multus.conf");

  fs::remove(node.dir / "net.d/10-primary.conf");
  EXPECT_TRUE(node.until([&] { return node.complained.size() == 1; }));
  node.dir.write("net.d/10-primary.conf", "{\"cniVer");
  EXPECT_TRUE(node.until([&] { return node.complained.size() == 2; }));
  EXPECT_EQ(node.text("net.d/00-multus.conf"), before);
  node.dir.write("net.d/10-primary.conf", R"({"cniVersion":"0.3.1","name":"back","type":"t"})");

  EXPECT_TRUE(node.until([&] { return node.file_says("net.d/00-multus.conf", "back"); }));
}

TEST(Entrypoint, DoesNotEndBecauseOfAVersionThatIsNotTheUsers) {
  Node node;
  node.start({"--cni-version=0.3.1"});

  node.dir.write("net.d/10-primary.conf", R"({"cniVersion":"0.4.0","name":"n","type":"t"})");
  EXPECT_TRUE(node.until([&] { return !node.complained.empty(); }));
  EXPECT_TRUE(node.file_says("net.d/00-multus.conf", "\"cniVersion\": \"0.3.1\""));
  node.dir.write("net.d/10-primary.conf", R"({"cniVersion":"0.3.1","name":"again","type":"t"})");

  EXPECT_TRUE(node.until([&] { return node.file_says("net.d/00-multus.conf", "again"); }));
}

TEST(Entrypoint, FollowsTheTokenButNotThePrimaryIfAskedTo) {
  Node node;
  node.start({"--skip-config-watch"});

  node.dir.write("net.d/10-primary.conf", R"({"cniVersion":"0.3.1","name":"new","type":"t"})");
  node.dir.write("account/token", "second");

  EXPECT_TRUE(node.until([&] { return node.file_says(kKubeconfig, "second"); }));
  EXPECT_FALSE(node.file_says("net.d/00-multus.conf", "new"));
}

TEST(Entrypoint, RenamesThePrimaryAndFollowsBothNames) {
  Node node;
  node.dir.write("net.d/20-other.conf", kPrimary);
  node.start({"--rename-conf-file"});
  EXPECT_FALSE(node.has("net.d/10-primary.conf"));
  ASSERT_TRUE(node.has("net.d/10-primary.conf.old"));

  node.dir.write("net.d/10-primary.conf.old", R"({"cniVersion":"0.3.1","name":"b","type":"t"})");
  EXPECT_TRUE(node.until([&] { return node.file_says("net.d/00-multus.conf", "\"b\""); }));
  node.dir.write("net.d/10-primary.conf", R"({"cniVersion":"0.3.1","name":"c","type":"t"})");
  EXPECT_TRUE(node.until([&] { return node.file_says("net.d/00-multus.conf", "\"c\""); }));
  EXPECT_TRUE(node.until([&] { return !node.has("net.d/10-primary.conf"); }));

  EXPECT_TRUE(node.has("net.d/20-other.conf"));
}

TEST(Entrypoint, CleansUpOnlyIfAskedToAndNeverTheKubeconfig) {
  Node keeping;
  keeping.start();
  keeping.stop();
  ASSERT_TRUE(keeping.entrypoint->clean_up().has_value());
  EXPECT_TRUE(keeping.has("net.d/00-multus.conf"));

  Node cleaning;
  cleaning.start({"--cleanup-config-on-exit"});
  cleaning.dir.write("net.d/00-multus.conflist", "{}");
  cleaning.stop();
  ASSERT_TRUE(cleaning.entrypoint->clean_up().has_value());
  EXPECT_FALSE(cleaning.has("net.d/00-multus.conf"));
  EXPECT_FALSE(cleaning.has("net.d/00-multus.conflist"));
  EXPECT_TRUE(cleaning.has(kKubeconfig));
  EXPECT_TRUE(cleaning.has("net.d/10-primary.conf"));

  Node given;
  given.dir.write("net.d/70-own.conf", "{}");
  given.start(
      {"--cleanup-config-on-exit", "--multus-conf-file=" + (given.dir / "net.d/70-own.conf")});
  given.stop();
  ASSERT_TRUE(given.entrypoint->clean_up().has_value());
  EXPECT_TRUE(given.has("net.d/70-own.conf"));
}

}  // namespace
}  // namespace mnet::thin_entrypoint
