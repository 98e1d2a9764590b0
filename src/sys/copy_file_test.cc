#include "sys/copy_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::sys {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::SizeIs;

struct stat status_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status;
}

TEST(CopyFile, TakesBytesAndModeOfTheSource) {
  const TestDir dir;
  const std::string from = dir.write("from", "program", 0755);

  const auto copied = copy_file(from, dir / "to");

  ASSERT_TRUE(copied.has_value());
  EXPECT_TRUE(*copied);
  EXPECT_EQ(*read_file(dir / "to"), "program");
  EXPECT_EQ(status_of(dir / "to").st_mode & 07777u, 0755u);
  ASSERT_TRUE(copy_file(from, dir / "other", 0600).has_value());
  EXPECT_EQ(status_of(dir / "other").st_mode & 07777u, 0600u);
}

TEST(CopyFile, LeavesWhatIsTheSameAlready) {
  const TestDir dir;
  const std::string from = dir.write("from", "program", 0755);
  ASSERT_TRUE(copy_file(from, dir / "to").has_value());
  const auto inode = status_of(dir / "to").st_ino;

  EXPECT_FALSE(*copy_file(from, dir / "to"));
  EXPECT_EQ(status_of(dir / "to").st_ino, inode);

  fs::permissions(dir / "to", fs::perms::owner_read);
  EXPECT_TRUE(*copy_file(from, dir / "to"));
  EXPECT_EQ(status_of(dir / "to").st_mode & 07777u, 0755u);
}

TEST(CopyFile, CopiesAndComparesFilesOfManyBlocks) {
  const TestDir dir;
  constexpr std::size_t kBlock = 256u << 10;
  for (const std::size_t size : {std::size_t{0}, kBlock - 1, kBlock, 3 * kBlock, 3 * kBlock + 7}) {
    std::string bytes(size, 'x');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i % 251);
    const std::string from = dir.write("from", bytes, 0755);

    EXPECT_TRUE(*copy_file(from, dir / "to")) << size;
    EXPECT_EQ(*read_file(dir / "to"), bytes) << size;
    EXPECT_FALSE(*copy_file(from, dir / "to")) << size;
    if (size == 0) continue;
    bytes.back() ^= 1;
    dir.write("to", bytes, 0755);
    EXPECT_TRUE(*copy_file(from, dir / "to")) << size;
  }
}

TEST(CopyFile, DoesNothingWhenBothAreOneFile) {
  const TestDir dir;
  const std::string from = dir.write("from", "precious");
  fs::create_symlink("from", dir / "link");

  EXPECT_FALSE(*copy_file(from, from, 0600));
  EXPECT_FALSE(*copy_file(from, dir / "link"));
  EXPECT_EQ(*read_file(from), "precious");
}

TEST(CopyFile, NamesWhatFailedAndLeavesTheTargetAsItWas) {
  const TestDir dir;
  dir.write("to", "old");
  fs::create_directory(dir / "folder");

  EXPECT_THAT(copy_file(dir / "none", dir / "to").error().text(), HasSubstr(dir / "none"));
  EXPECT_FALSE(copy_file(dir / "folder", dir / "to").has_value());
  EXPECT_FALSE(copy_file(dir / "to", dir / "folder").has_value());
  EXPECT_FALSE(copy_file(dir / "to", dir / "nowhere/to").has_value());

  EXPECT_EQ(*read_file(dir / "to"), "old");
  EXPECT_THAT(*list_directory(dir.path()), SizeIs(2));
}

}  // namespace
}  // namespace mnet::sys
