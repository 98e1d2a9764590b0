#include "adapters/device_info_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "aio/blocking_pool.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/result.h"
#include "json/json.h"
#include "model/runtime_config.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::adapters {
namespace {

using std::filesystem::perms;
using testing::HasSubstr;

const std::string kBase = "/var/run/k8s.cni.cncf.io/devinfo";
constexpr const char* kPciInfo =
    R"({"type":"pci","version":"1.1.0","pci":{"pci-address":"0000:18:02.5"}})";

class DeviceInfoFilesTest : public testing::Test {
 protected:
  template <typename T>
  Result<T> run(aio::Task<T> task) {
    return aio::run(loop_, std::move(task));
  }
  void leave_device_plugin_file(const std::string& name, const std::string& text) {
    dir_.write(kBase + "/dp/" + name, text);
  }
  Result<void> copy() { return run(files_.copy("intel.com/nic", "0000:18:02.5", target_)); }
  bool has_target() { return std::filesystem::exists(dir_.path() + target_); }

  const std::string target_ = model::cni_device_info_file("ns/net", "c1", "net1");
  sys::TestDir dir_;
  aio::asio::io_context loop_{1};
  aio::BlockingPool pool_{2};
  DeviceInfoFiles files_{pool_, dir_.path()};
};

// 02, 12: row 83: replaced, read, gone.
TEST_F(DeviceInfoFilesTest, ComeFromTheDevicePluginReplaceWhatWasThereAndGo) {
  EXPECT_EQ(target_, kBase + "/cni/ns-net-c1_net1");
  leave_device_plugin_file("intel.com-nic-0000:18:02.5-device.json",
                           "{ \"pci\": {\"pci-address\": \"0000:18:02.5\", \"more\": 1},\n"
                           "  \"type\": \"pci\", \"version\": \"1.1.0\" }");
  dir_.write(target_, R"({"type":"memif"})", 0444);

  ASSERT_TRUE(copy());

  EXPECT_EQ(sys::read_file(dir_.path() + target_).value(), kPciInfo);
  EXPECT_EQ(std::filesystem::status(dir_.path() + target_).permissions(), perms(0444));
  EXPECT_EQ(json::dump(*run(files_.find(target_)).value()), kPciInfo);
  ASSERT_TRUE(run(files_.remove(target_)));
  EXPECT_FALSE(has_target());
  EXPECT_TRUE(run(files_.remove(target_)));
  EXPECT_FALSE(run(files_.find(target_)).value().has_value());
}

TEST_F(DeviceInfoFilesTest, AreNotFollowedOutOfTheirFolder) {
  const std::string elsewhere = dir_.write("/elsewhere", kPciInfo);
  leave_device_plugin_file("other", kPciInfo);
  std::filesystem::create_symlink(
      elsewhere, dir_.path() + kBase + "/dp/intel.com-nic-0000:18:02.5-device.json");

  auto copied = copy();

  ASSERT_FALSE(copied);
  EXPECT_THAT(copied.error().text(), HasSubstr("is a symbolic link"));
  EXPECT_FALSE(has_target());
  std::filesystem::create_directories(dir_.path() + kBase + "/cni");
  std::filesystem::create_symlink(elsewhere, dir_.path() + target_);
  EXPECT_FALSE(run(files_.find(target_)));
  ASSERT_TRUE(run(files_.remove(target_)));
  EXPECT_TRUE(std::filesystem::exists(elsewhere));
}

TEST_F(DeviceInfoFilesTest, MakeTheirDirectoriesForAllToRead) {
  leave_device_plugin_file("a-b-c-device.json", kPciInfo);

  ASSERT_TRUE(run(files_.copy("a/b", "c", target_)));

  EXPECT_EQ(std::filesystem::status(dir_.path() + kBase + "/cni").permissions(), perms(0755));
}

TEST_F(DeviceInfoFilesTest, WithoutASourceAreNoneAndNoError) {
  ASSERT_TRUE(copy());
  EXPECT_FALSE(has_target());

  dir_.write(target_, kPciInfo);
  ASSERT_TRUE(copy());
  EXPECT_FALSE(has_target()) << "what an earlier ADD left";
}

// 02, 12: row 84.
TEST_F(DeviceInfoFilesTest, OfAnInvalidSourceAreAnErrorAndNotCopied) {
  for (const char* text : {"{\"ty", "", "[]", R"({"type":5})", R"({"pci":"x"})"}) {
    leave_device_plugin_file("intel.com-nic-0000:18:02.5-device.json", text);
    dir_.write(target_, kPciInfo);

    const auto copied = copy();

    ASSERT_FALSE(copied) << text;
    EXPECT_THAT(copied.error().text(), HasSubstr("0000:18:02.5-device.json: "));
    EXPECT_FALSE(has_target());
  }
}

TEST_F(DeviceInfoFilesTest, ThatAPluginWroteAreReadIfTheyAreValid) {
  dir_.write(target_, "{}");
  EXPECT_EQ(json::dump(*run(files_.find(target_)).value()), "{}");

  dir_.write(target_, "{\"type\":");
  EXPECT_FALSE(run(files_.find(target_)));
  dir_.write(target_, std::string(2u << 20, ' ') + "{}");
  EXPECT_FALSE(run(files_.find(target_))) << "too large";
}

TEST_F(DeviceInfoFilesTest, NeverLeaveTheirDirectoryForADeviceId) {
  dir_.write("/var/run/k8s.cni.cncf.io/secret-device.json", kPciInfo);
  std::filesystem::create_directories(dir_.path() + kBase + "/dp/x-");

  ASSERT_TRUE(run(files_.copy("x", "/../../../secret", target_)));
  EXPECT_FALSE(run(files_.copy("x", std::string("y\0z", 3), target_)));

  EXPECT_FALSE(has_target());
}

TEST_F(DeviceInfoFilesTest, WantAnAbsolutePath) {
  leave_device_plugin_file("a-b-device.json", kPciInfo);

  EXPECT_FALSE(run(files_.copy("a", "b", "relative")));
  EXPECT_FALSE(run(files_.find("")));
  EXPECT_FALSE(run(files_.remove(std::string("/x\0y", 4))));
}

// 03, 7: an image without the link /var/run -> /run.
TEST_F(DeviceInfoFilesTest, AreLookedForBelowRunIfOnlyThatHasThem) {
  std::filesystem::create_directories(dir_ / "var/run/secrets");
  dir_.write("run/k8s.cni.cncf.io/devinfo/dp/a-b-device.json", kPciInfo);

  ASSERT_TRUE(run(files_.copy("a", "b", target_)));

  EXPECT_TRUE(std::filesystem::exists(dir_ / "run/k8s.cni.cncf.io/devinfo/cni/ns-net-c1_net1"));
  EXPECT_EQ(json::dump(*run(files_.find(target_)).value()), kPciInfo);
  ASSERT_TRUE(run(files_.remove(target_)));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "run/k8s.cni.cncf.io/devinfo/cni/ns-net-c1_net1"));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "var/run/k8s.cni.cncf.io"));
}

TEST_F(DeviceInfoFilesTest, ThatCannotBeWrittenOrRemovedAreAnError) {
  leave_device_plugin_file("intel.com-nic-0000:18:02.5-device.json", kPciInfo);
  std::filesystem::create_directories(dir_.path() + target_ + "/sub");

  EXPECT_FALSE(copy());
  EXPECT_FALSE(run(files_.remove(target_)));
  EXPECT_TRUE(run(files_.remove(kBase + "/dp/intel.com-nic-0000:18:02.5-device.json/x")));
}

}  // namespace
}  // namespace mnet::adapters
