#include "sys/log_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "sys/environment.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::sys {
namespace {

TEST(LogFile, AppendsToWhatIsThere) {
  const TestDir dir;
  const std::string path = dir.write("log", "before\n");

  auto target = open_log_file(path);
  ASSERT_TRUE(target.has_value());
  (*target)->write("line\n");

  EXPECT_EQ(read_file(path).value(), "before\nline\n");
}

TEST(LogFile, IsReadableByItsOwnerOnlyWhenNew) {
  const TestDir dir;

  ASSERT_TRUE(open_log_file(dir / "log").has_value());

  const auto mode = std::filesystem::status(dir / "log").permissions();
  EXPECT_EQ(static_cast<int>(mode), 0600);
}

TEST(LogFile, SaysWhyItCannotBeWritten) {
  const TestDir dir;

  EXPECT_EQ(open_log_file(dir / "none/log").error().text(),
            "open " + (dir / "none/log") + ": no such file or directory");
  EXPECT_FALSE(std::filesystem::exists(dir / "none"));
  EXPECT_FALSE(open_log_file(dir.path()).has_value());
}

TEST(LogFile, DoesNotHangOnAFifoThatNobodyReads) {
  const TestDir dir;
  ASSERT_EQ(::mkfifo((dir / "fifo").c_str(), 0600), 0);

  EXPECT_FALSE(open_log_file(dir / "fifo").has_value());
}

TEST(Environment, IsACopyOfTheProcesssOwn) {
  ASSERT_EQ(::setenv("MNET_TEST_VARIABLE", "a=b", 1), 0);

  const auto copy = environment();

  EXPECT_NE(std::ranges::find(copy, "MNET_TEST_VARIABLE=a=b"), copy.end());
  ::unsetenv("MNET_TEST_VARIABLE");
}

}  // namespace
}  // namespace mnet::sys
