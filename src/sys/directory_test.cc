#include "sys/directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "sys/file.h"
#include "sys/file_lock.h"
#include "sys/test_dir.h"

namespace mnet::sys {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> out;
  for (const Entry& entry : list_directory(path).value()) out.push_back(entry.name);
  return out;
}

TEST(Directory, ReplacesTheEntryItselfAndLeavesNothingBeside) {
  const TestDir dir;
  dir.write("other", "kept");
  fs::create_symlink("other", dir / "f");
  const auto directory = Directory::open(dir.path()).value();

  ASSERT_TRUE(directory.replace("f", "new", 0600, ".p").has_value());

  EXPECT_TRUE(directory.holds("f", "new", 0600));
  EXPECT_TRUE(directory.holds("other", "kept", 0644));
  EXPECT_FALSE(directory.holds("f", "new", 0644));
  EXPECT_THAT(names_in(dir.path()), ElementsAre("f", "other"));
}

TEST(Directory, NeitherReplacesNorRemovesADirectory) {
  const TestDir dir;
  fs::create_directory(dir / "d");
  const auto directory = Directory::open(dir.path()).value();

  EXPECT_EQ(directory.replace("d", "", 0644, ".p").error().os_errno(), EISDIR);
  EXPECT_EQ(directory.remove("d").error().os_errno(), EISDIR);
  EXPECT_THAT(names_in(dir.path()), ElementsAre("d"));
}

TEST(Directory, FindsThroughLinksButNothingThatIsNoFile) {
  const TestDir dir;
  dir.write("f", "text", 0640);
  fs::create_symlink("f", dir / "link");
  fs::create_symlink("nothing", dir / "dangling");
  fs::create_directory(dir / "d");
  ASSERT_EQ(::mkfifo((dir / "fifo").c_str(), 0600), 0);
  const auto directory = Directory::open(dir.path()).value();

  EXPECT_EQ(directory.find("link", 10).value()->bytes, "text");
  EXPECT_EQ(directory.find("link", 10).value()->mode, 0640u);
  EXPECT_FALSE(directory.find("dangling", 10).value().has_value());
  EXPECT_FALSE(directory.find("d", 10).has_value());
  EXPECT_FALSE(directory.find("fifo", 10).has_value());
  EXPECT_FALSE(directory.find("f", 3).has_value());
}

TEST(Directory, RemovesALinkAndNotWhatItLeadsTo) {
  const TestDir dir;
  dir.write("f", "text");
  fs::create_symlink("f", dir / "link");
  const auto directory = Directory::open(dir.path()).value();

  EXPECT_EQ(directory.remove("link").value(), true);
  EXPECT_EQ(directory.remove("link").value(), false);
  EXPECT_THAT(names_in(dir.path()), ElementsAre("f"));
}

TEST(Directory, SweepsOnlyOldLeftOversOfItsOwn) {
  const TestDir dir;
  const std::string old = dir.write(".p.f.1", "");
  dir.write(".p.f.2", "");
  const std::string foreign = dir.write(".q.f.1", "");
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(2);
  fs::last_write_time(old, long_ago);
  fs::last_write_time(foreign, long_ago);

  Directory::open(dir.path()).value().sweep(".p", 3600);

  EXPECT_THAT(names_in(dir.path()), ElementsAre(".p.f.2", ".q.f.1"));
}

TEST(Directory, KnowsItselfUnderAnotherPath) {
  const TestDir dir;
  fs::create_directory(dir / "a");
  fs::create_symlink("a", dir / "b");

  EXPECT_TRUE(Directory::open(dir / "a")->is_same(*Directory::open(dir / "b")));
  EXPECT_FALSE(Directory::open(dir / "a")->is_same(*Directory::open(dir.path())));
}

TEST(FileLock, OfADirectoryIsWaitedForNoLongerThanAsked) {
  const TestDir dir;
  const auto patience = std::chrono::milliseconds(50);
  auto held = FileLock::take_directory_within(dir.path(), patience).value();

  EXPECT_EQ(FileLock::take_directory_within(dir.path(), patience).error().code(), Errc::kTimeout);
  held.release();
  EXPECT_TRUE(FileLock::take_directory_within(dir.path(), patience).has_value());
}

TEST(FileLock, IsNotWaitedForWhenOnlyTried) {
  const TestDir dir;
  auto held = FileLock::try_file(dir / "lock").value();

  ASSERT_TRUE(held.has_value());
  EXPECT_FALSE(FileLock::try_file(dir / "lock").value().has_value());
  held.reset();
  EXPECT_TRUE(FileLock::try_file(dir / "lock").value().has_value());
}

}  // namespace
}  // namespace mnet::sys
