#include "daemon/node_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/text.h"
#include "daemon/config.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::daemon {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

Config config_with(const std::string& file, const std::string& target_dir) {
  Config config;
  config.multus_config_file = file;
  config.cni_config_dir = target_dir;
  return config;
}

TEST(CopyUserConfig, CopiesForRootAlone) {
  const sys::TestDir dir;
  const std::string source = dir.write("mine/70-multus.conf", "{\"a\":1}\n");
  dir.write("net.d/70-multus.conf", "old");

  const auto copied = copy_user_config(config_with(source, dir / "net.d"));

  ASSERT_TRUE(copied.has_value()) << copied.error().text();
  EXPECT_EQ(sys::read_file(dir / "net.d/70-multus.conf").value(), "{\"a\":1}\n");
  struct stat about{};
  ASSERT_EQ(::stat((dir / "net.d/70-multus.conf").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
}

TEST(CopyUserConfig, LeavesAFileAloneThatIsInPlaceAlready) {
  const sys::TestDir dir;
  const std::string file = dir.write("net.d/70-multus.conf", "mine", 0644);
  struct stat before{}, after{};
  ASSERT_EQ(::stat(file.c_str(), &before), 0);

  // Under another spelling of the same place.
  const auto copied = copy_user_config(config_with(dir / "net.d/./70-multus.conf", dir / "net.d"));

  ASSERT_TRUE(copied.has_value()) << copied.error().text();
  ASSERT_EQ(::stat(file.c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(sys::read_file(file).value(), "mine");
}

TEST(SweepConfigDir, TakesOnlyOldTemporariesOfOurs) {
  const sys::TestDir dir;
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  for (const char* name : {".multus-tmp-1-2", "00-multus.conf", ".other-tmp-1"}) {
    std::filesystem::last_write_time(dir.write(cat("net.d/", name), "{}"), old);
  }
  dir.write("net.d/.multus-tmp-3-4", "being written");
  std::filesystem::create_symlink("00-multus.conf", dir / "net.d/.multus-tmp-5-6");

  ASSERT_TRUE(sweep_config_dir(config_with("auto", dir / "net.d")).has_value());
  EXPECT_TRUE(sweep_config_dir(config_with("auto", dir / "none")).has_value());

  std::vector<std::string> left;
  for (const sys::Entry& entry : *sys::list_directory(dir / "net.d")) left.push_back(entry.name);
  EXPECT_THAT(left,
              ElementsAre(".multus-tmp-3-4", ".multus-tmp-5-6", ".other-tmp-1", "00-multus.conf"));
}

TEST(CopyUserConfig, NamesTheFileThatCannotBeCopied) {
  const sys::TestDir dir;

  const auto copied = copy_user_config(config_with(dir / "none.conf", dir.path() + "/net.d"));

  ASSERT_FALSE(copied.has_value());
  EXPECT_THAT(
      copied.error().text(),
      StartsWith(cat("failed to copy the user provided configuration ", dir / "none.conf", ": ")));
}

}  // namespace
}  // namespace mnet::daemon
