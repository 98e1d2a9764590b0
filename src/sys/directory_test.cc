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
#include "base/sha256.h"
#include "sys/copy_file.h"
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

  Blocks blocks = Blocks::of("new");
  ASSERT_TRUE(directory.replace("f", blocks, {.mode = 0600}, ".p").has_value());

  EXPECT_TRUE(directory.holds("f", "new", 0600));
  EXPECT_TRUE(directory.holds("other", "kept", 0644));
  EXPECT_FALSE(directory.holds("f", "new", 0644));
  EXPECT_THAT(names_in(dir.path()), ElementsAre("f", "other"));
}

TEST(Directory, NeitherReplacesNorRemovesADirectory) {
  const TestDir dir;
  fs::create_directory(dir / "d");
  const auto directory = Directory::open(dir.path()).value();

  Blocks blocks = Blocks::of("");
  EXPECT_EQ(directory.replace("d", blocks, {.mode = 0644}, ".p").error().os_errno(), EISDIR);
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

TEST(Directory, LeadsLinksThroughTheRootThatIsNamed) {
  const TestDir dir;
  dir.write("host/usr/lib/cni/f", "of the host");
  fs::create_directories(dir / "host/opt");
  fs::create_symlink("/usr/lib/cni", dir / "host/opt/cni");
  fs::create_symlink("/usr/lib/cni/f", dir / "host/usr/lib/cni/link");
  fs::create_symlink("/../../../etc/passwd", dir / "host/usr/lib/cni/out");

  const auto directory = Directory::open(dir / "host/opt/cni", dir / "host").value();

  EXPECT_EQ(directory.find("link", 100).value()->bytes, "of the host");
  EXPECT_FALSE(directory.find("out", 100000).value().has_value());
  EXPECT_FALSE(Directory::open(dir / "host/opt/cni").has_value() &&
               Directory::open(dir / "host/opt/cni")->find("link", 100).value().has_value());
}

TEST(Directory, LooksAtEntriesAndNotThroughThem) {
  const TestDir dir;
  dir.write("f", "abc", 0750);
  fs::create_symlink("f", dir / "link");
  fs::create_directory(dir / "d");
  const auto directory = Directory::open(dir.path()).value();

  EXPECT_EQ(directory.look("f").value()->mode, 0750u);
  EXPECT_EQ(directory.look("f").value()->sha256, sha256_hex("abc"));
  EXPECT_EQ(directory.look("link").value()->link, "f");
  EXPECT_EQ(directory.look("link").value()->sha256, "");
  EXPECT_FALSE(directory.look("nothing").value().has_value());
  EXPECT_FALSE(directory.look("d").has_value());
}

TEST(Directory, ReplacesWithBlocksOnlyIfTheyAreWhatIsExpected) {
  const TestDir dir;
  dir.write("f", "old");
  const std::string large(600'000, 'x');
  const auto directory = Directory::open(dir.path()).value();
  Blocks blocks = Blocks::of(large);

  const auto wrong = directory.replace("f", blocks, {.mode = 0755, .sha256 = "0"}, ".p");
  EXPECT_EQ(wrong.error().code(), Errc::kConflict);
  EXPECT_TRUE(directory.holds("f", "old", 0644));

  ASSERT_TRUE(directory.replace("f", blocks, {.mode = 0755, .sha256 = sha256_hex(large)}, ".p")
                  .has_value());
  EXPECT_TRUE(directory.holds("f", large, 0755));
  ASSERT_TRUE(directory.replace_with_link("f", "elsewhere", ".p").has_value());
  EXPECT_EQ(directory.look("f").value()->link, "elsewhere");
  EXPECT_THAT(names_in(dir.path()), ElementsAre("f"));
}

TEST(Directory, ChangesOnlyWhatWasLookedAt) {
  const TestDir dir;
  dir.write("f", "seen");
  const auto directory = Directory::open(dir.path()).value();
  const std::string seen = directory.look("f").value()->state;
  dir.write("f", "another's");
  Blocks blocks = Blocks::of("ours");

  EXPECT_EQ(directory.replace("f", blocks, {.mode = 0644, .over = seen}, ".p").error().code(),
            Errc::kConflict);
  EXPECT_EQ(directory.remove("f", seen).error().code(), Errc::kConflict);
  EXPECT_TRUE(directory.holds("f", "another's", 0644));
  EXPECT_THAT(names_in(dir.path()), ElementsAre("f"));

  EXPECT_TRUE(directory.replace("f", blocks, {.mode = 0644, .over = directory.state("f")}, ".p")
                  .has_value());
}

TEST(Directory, IsLockedNoLongerThanAsked) {
  const TestDir dir;
  const auto patience = std::chrono::milliseconds(50);
  const auto directory = Directory::open(dir.path()).value();
  auto held = directory.lock(patience).value();

  EXPECT_EQ(directory.lock(patience).error().code(), Errc::kTimeout);
  held.release();
  EXPECT_TRUE(directory.lock(patience).has_value());
}

TEST(FileLock, IsWaitedForNoLongerThanUntilToldToStop) {
  const TestDir dir;
  const auto patience = std::chrono::hours(1);
  const auto directory = Directory::open(dir.path()).value();
  const auto held = directory.lock(patience).value();
  const auto file = FileLock::take_file_within(dir / "lock", patience).value();
  int asked = 0;
  const auto stops = [&asked] { return ++asked == 2; };

  EXPECT_EQ(directory.lock(patience, stops).error().code(), Errc::kCancelled);
  EXPECT_EQ(asked, 2);
  asked = 0;
  EXPECT_EQ(FileLock::take_file_within(dir / "lock", patience, stops).error().code(),
            Errc::kCancelled);
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
