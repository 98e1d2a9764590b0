#include "sys/append_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::sys {
namespace {

int mode_of(const std::string& path) {
  return static_cast<int>(std::filesystem::status(path).permissions());
}

TEST(AppendFile, GrowsAtItsEnd) {
  const TestDir dir;
  auto file = AppendFile::open(dir.write("log", "before\n"), 0600);
  ASSERT_TRUE(file.has_value());

  ASSERT_TRUE(file->append("one\n").has_value());
  ASSERT_TRUE(file->append("two\n").has_value());

  EXPECT_EQ(read_file(dir / "log").value(), "before\none\ntwo\n");
  EXPECT_EQ(file->size(), 15u);
}

TEST(AppendFile, GivesTheModeToANewFileOnly) {
  const TestDir dir;
  const mode_t umask_before = ::umask(0077);

  EXPECT_TRUE(AppendFile::open(dir / "new", 0644).has_value());
  EXPECT_TRUE(AppendFile::open(dir.write("old", "", 0640), 0644).has_value());
  ::umask(umask_before);

  EXPECT_EQ(mode_of(dir / "new"), 0644);
  EXPECT_EQ(mode_of(dir / "old"), 0640);
}

TEST(AppendFile, NoticesThatItsNameStandsForAnotherFile) {
  const TestDir dir;
  auto file = AppendFile::open(dir / "log", 0600);
  ASSERT_TRUE(file.has_value());
  ASSERT_EQ(file->size(), 0u);

  std::filesystem::rename(dir / "log", dir / "moved");
  EXPECT_EQ(file->size(), std::nullopt);
  dir.write("log", "another's");
  EXPECT_EQ(file->size(), std::nullopt);
}

TEST(AppendFile, IsPutAsideForANewOneOfTheSameMode) {
  const TestDir dir;
  auto file = AppendFile::open(dir.write("log", "old\n", 0640), 0600);
  ASSERT_TRUE(file.has_value());

  ASSERT_TRUE(file->put_aside(dir / "aside").has_value());
  ASSERT_TRUE(file->append("new\n").has_value());

  EXPECT_EQ(read_file(dir / "aside").value(), "old\n");
  EXPECT_EQ(read_file(dir / "log").value(), "new\n");
  EXPECT_EQ(mode_of(dir / "log"), 0640);
}

TEST(AppendFile, GoesOnWithTheOldFileThatCannotBePutAside) {
  const TestDir dir;
  auto file = AppendFile::open(dir / "log", 0600);
  ASSERT_TRUE(file.has_value());

  EXPECT_FALSE(file->put_aside(dir / "none/aside").has_value());
  ASSERT_TRUE(file->append("line\n").has_value());

  EXPECT_EQ(read_file(dir / "log").value(), "line\n");
}

TEST(AppendFile, SaysWhyItCannotBeOpened) {
  const TestDir dir;
  ASSERT_EQ(::mkfifo((dir / "fifo").c_str(), 0600), 0);

  EXPECT_EQ(AppendFile::open(dir / "none/log", 0600).error().text(),
            "open " + (dir / "none/log") + ": no such file or directory");
  EXPECT_FALSE(AppendFile::open(dir.path(), 0600).has_value());
  EXPECT_FALSE(AppendFile::open(dir / "fifo", 0600).has_value());
}

}  // namespace
}  // namespace mnet::sys
