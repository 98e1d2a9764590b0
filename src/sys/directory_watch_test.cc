#include "sys/directory_watch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sys/test_dir.h"

namespace mnet::sys {
namespace {

namespace fs = std::filesystem;

DirectoryWatch watch_on(std::vector<std::string> directories) {
  auto watch = DirectoryWatch::make(std::move(directories));
  EXPECT_TRUE(watch.has_value());
  return *std::move(watch);
}

bool took(DirectoryWatch& watch) {
  const auto taken = watch.take();
  EXPECT_TRUE(taken.has_value());
  return taken && *taken;
}

TEST(DirectoryWatch, SaysOnceThatSomethingHappenedInAnyOfThem) {
  const TestDir a, b;
  DirectoryWatch watch = watch_on({a.path(), b.path() + "/"});
  EXPECT_FALSE(took(watch));

  b.write("file", "x");

  EXPECT_TRUE(took(watch));
  EXPECT_FALSE(took(watch));
}

TEST(DirectoryWatch, SeesTheSwapOfAMountedVolume) {
  const TestDir dir;
  dir.write("..1/token", "old");
  dir.write("..2/token", "new");
  fs::create_symlink("..1", dir / "..data");
  fs::create_symlink("..data/token", dir / "token");
  DirectoryWatch watch = watch_on({dir.path()});

  fs::create_symlink("..2", dir / "..data_tmp");
  fs::rename(dir / "..data_tmp", dir / "..data");

  EXPECT_TRUE(took(watch));
}

TEST(DirectoryWatch, WaitsForADirectoryThatIsMissing) {
  const TestDir dir;
  DirectoryWatch watch = watch_on({dir / "a/b"});

  fs::create_directory(dir / "a");
  EXPECT_TRUE(took(watch));
  fs::create_directory(dir / "a/b");
  EXPECT_TRUE(took(watch));
  dir.write("a/b/file", "x");
  EXPECT_TRUE(took(watch));

  EXPECT_FALSE(took(watch));
}

TEST(DirectoryWatch, FollowsADirectoryThatIsReplaced) {
  const TestDir dir;
  fs::create_directory(dir / "a");
  DirectoryWatch watch = watch_on({dir / "a"});

  fs::remove_all(dir / "a");
  EXPECT_TRUE(took(watch));
  fs::create_directory(dir / "a");
  EXPECT_TRUE(took(watch));
  dir.write("a/file", "x");
  EXPECT_TRUE(took(watch));

  fs::rename(dir / "a", dir / "old");
  EXPECT_TRUE(took(watch));
  took(watch);
  dir.write("old/file", "y");
  EXPECT_FALSE(took(watch));
}

TEST(DirectoryWatch, OneMayLieAboveTheOther) {
  const TestDir dir;
  DirectoryWatch watch = watch_on({dir.path(), dir / "later"});

  fs::create_directory(dir / "later");
  EXPECT_TRUE(took(watch));
  took(watch);
  dir.write("file", "x");
  EXPECT_TRUE(took(watch));
  took(watch);
  dir.write("later/file", "x");
  EXPECT_TRUE(took(watch));
}

}  // namespace
}  // namespace mnet::sys
