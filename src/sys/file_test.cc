#include "sys/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <atomic>
#include <ctime>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/durability.h"
#include "base/error.h"
#include "sys/test_dir.h"

namespace mnet::sys {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::StartsWith;

mode_t mode_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

TEST(ReadFile, YieldsAllBytesAlsoOfFilesWithoutSize) {
  const TestDir dir;
  const std::string bytes(200'000, 'x');

  EXPECT_EQ(read_file(dir.write("a", bytes)).value(), bytes);
  EXPECT_EQ(read_file(dir.write("empty", "")).value(), "");
  EXPECT_THAT(read_file("/proc/self/status").value(), StartsWith("Name:"));
}

TEST(ReadFile, SpeaksLikeGoAboutWhatItCannotRead) {
  const TestDir dir;

  EXPECT_EQ(read_file(dir / "none").error().text(),
            "open " + (dir / "none") + ": no such file or directory");
  EXPECT_EQ(read_file(dir / "none").error().code(), Errc::kNotFound);
  EXPECT_EQ(read_file(dir.path()).error().text(), "read " + dir.path() + ": is a directory");
}

TEST(ReadFile, RefusesMoreThanTheLimitWhateverTheSizeSays) {
  const TestDir dir;
  const std::string path = dir.write("a", "12345");

  EXPECT_EQ(read_file(path, 5).value(), "12345");
  EXPECT_EQ(read_file(path, 4).error().text(), "read " + path + ": file too large");
  EXPECT_FALSE(read_file("/proc/self/status", 10).has_value());
}

TEST(ReadFile, DoesNotHangOnAFifo) {
  const TestDir dir;
  ASSERT_EQ(::mkfifo((dir / "fifo").c_str(), 0600), 0);

  EXPECT_EQ(read_file(dir / "fifo").value(), "");
}

TEST(FindFile, TellsAbsenceFromFailure) {
  const TestDir dir;

  EXPECT_EQ(find_file(dir / "none").value(), std::nullopt);
  EXPECT_EQ(find_file(dir.write("a", "x")).value(), "x");
  EXPECT_FALSE(find_file(dir / "a/b").has_value());
}

TEST(ListDirectory, SortsByBytesAndTellsKinds) {
  const TestDir dir;
  dir.write("b", "");
  dir.write("a/inside", "");
  dir.write("B", "");
  std::filesystem::create_symlink("a", dir / "link");

  auto entries = list_directory(dir.path());

  ASSERT_TRUE(entries.has_value());
  EXPECT_THAT(*entries, ElementsAre(Field(&Entry::name, "B"), Field(&Entry::name, "a"),
                                    Field(&Entry::name, "b"), Field(&Entry::name, "link")));
  EXPECT_EQ((*entries)[0].kind, EntryKind::kRegular);
  EXPECT_EQ((*entries)[1].kind, EntryKind::kDirectory);
  EXPECT_EQ((*entries)[3].kind, EntryKind::kLink);
}

TEST(VisitDirectory, FindsEachEntryOnce) {
  const TestDir dir;
  dir.write("b", "");
  dir.write("a/inside", "");
  std::map<std::string, EntryKind> found;

  const auto visited = visit_directory(dir.path(), [&found](std::string_view name, EntryKind kind) {
    EXPECT_TRUE(found.emplace(name, kind).second);
  });

  ASSERT_TRUE(visited.has_value());
  EXPECT_EQ(found, (std::map<std::string, EntryKind>{{"a", EntryKind::kDirectory},
                                                     {"b", EntryKind::kRegular}}));
}

TEST(ListDirectory, FailsOnWhatIsNone) {
  const TestDir dir;

  EXPECT_EQ(list_directory(dir / "none").error().code(), Errc::kNotFound);
  EXPECT_FALSE(list_directory(dir.write("file", "")).has_value());
}

TEST(MakeDirectories, GivesEveryNewOneTheModeWhateverTheUmask) {
  const TestDir dir;
  const mode_t before = ::umask(0077);

  auto made = make_directories(dir / "a/b//c/", 0755);

  ::umask(before);
  ASSERT_TRUE(made.has_value()) << made.error().text();
  EXPECT_EQ(mode_of(dir / "a"), 0755u);
  EXPECT_EQ(mode_of(dir / "a/b/c"), 0755u);
}

TEST(MakeDirectories, LeavesWhatExistsAndRefusesAFileInTheWay) {
  const TestDir dir;
  ASSERT_TRUE(make_directories(dir / "a", 0711).has_value());

  EXPECT_TRUE(make_directories(dir / "a", 0700).has_value());
  EXPECT_EQ(mode_of(dir / "a"), 0711u);
  dir.write("file", "");
  EXPECT_EQ(make_directories(dir / "file/x", 0700).error().text(),
            "mkdir " + (dir / "file") + ": not a directory");
}

class ReplaceFile : public testing::TestWithParam<Durability> {};
INSTANTIATE_TEST_SUITE_P(Both, ReplaceFile,
                         testing::Values(Durability::kDurable, Durability::kInPlace));

TEST_P(ReplaceFile, WritesWithExactlyTheModeAndLeavesNoTemporary) {
  const TestDir dir;
  const mode_t before = ::umask(0077);

  auto first = replace_file(dir / "a", "one", 0644, GetParam());
  auto second = replace_file(dir / "a", "two", 0600, GetParam());

  ::umask(before);
  ASSERT_TRUE(first.has_value());
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(read_file(dir / "a").value(), "two");
  EXPECT_EQ(mode_of(dir / "a"), 0600u);
  EXPECT_THAT(list_directory(dir.path()).value(), ElementsAre(Field(&Entry::name, "a")));
}

TEST_P(ReplaceFile, LeavesNothingBehindWhenTheRenameFails) {
  const TestDir dir;
  dir.write("a/inside", "");

  auto replaced = replace_file(dir / "a", "x", 0600, GetParam());

  EXPECT_FALSE(replaced.has_value());
  EXPECT_THAT(list_directory(dir.path()).value(), ElementsAre(Field(&Entry::name, "a")));
}

TEST(ReplaceFileAlone, FailsWithoutTheDirectory) {
  const TestDir dir;

  EXPECT_EQ(replace_file(dir / "none/a", "x", 0600).error().code(), Errc::kNotFound);
}

TEST(ReplaceFileAlone, ShowsReadersTheOldFileOrTheNewOne) {
  const TestDir dir;
  const std::string small(10, 'a');
  const std::string large(300'000, 'b');
  ASSERT_TRUE(replace_file(dir / "f", small, 0600, Durability::kInPlace).has_value());
  std::atomic<bool> stop = false;
  std::atomic<int> torn = 0;
  std::thread reader([&] {
    while (!stop) {
      auto got = read_file(dir / "f");
      if (!got || (*got != small && *got != large)) ++torn;
    }
  });

  for (int i = 0; i < 200; ++i) {
    const std::string& bytes = i % 2 == 0 ? large : small;
    EXPECT_TRUE(replace_file(dir / "f", bytes, 0600, Durability::kInPlace).has_value());
  }

  stop = true;
  reader.join();
  EXPECT_EQ(torn, 0);
}

TEST(SyncFile, AcceptsAFileThatIsGone) {
  const TestDir dir;

  EXPECT_TRUE(sync_file(dir.write("a", "x")).has_value());
  EXPECT_TRUE(sync_file(dir / "none").has_value());
}

TEST(RemoveFile, TellsWhetherItWasThere) {
  const TestDir dir;
  dir.write("a", "");

  EXPECT_TRUE(remove_file(dir / "a").value());
  EXPECT_FALSE(remove_file(dir / "a").value());
  EXPECT_FALSE(remove_file(dir.path()).has_value());
}

TEST(SweepTemporaries, RemovesOnlyOldFilesOfOurOwn) {
  const TestDir dir;
  const std::string prefix(kTemporaryPrefix);
  const std::string old = dir.write(prefix + "1-2", "");
  const std::string foreign = dir.write(".keep", "");
  const timespec long_ago[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, old.c_str(), long_ago, 0), 0);
  ASSERT_EQ(::utimensat(AT_FDCWD, foreign.c_str(), long_ago, 0), 0);
  dir.write(prefix + "3-4", "");

  ASSERT_TRUE(sweep_temporaries(dir.path(), 3600).has_value());

  EXPECT_THAT(list_directory(dir.path()).value(),
              ElementsAre(Field(&Entry::name, ".keep"), Field(&Entry::name, prefix + "3-4")));
  EXPECT_TRUE(sweep_temporaries(dir / "none", 0).has_value());
}

TEST(DirectoryOf, CutsTheLastName) {
  EXPECT_EQ(directory_of("/a/b/c"), "/a/b");
  EXPECT_EQ(directory_of("/c"), "/");
  EXPECT_EQ(directory_of("c"), ".");
}

}  // namespace
}  // namespace mnet::sys
