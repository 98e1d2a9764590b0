#include "nodeconf/own_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include "base/text.h"
#include "json/json.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::nodeconf {
namespace {

constexpr const char* kText = R"({"cniVersion":"1.0.0","name":"n","type":"multus-shim"})";

class OwnFileTest : public testing::Test {
 protected:
  OwnFile::Fate fate() const { return own_.state().fate; }

  sys::TestDir dir_;
  std::string path_ = dir_ / "00-multus.conf";
  OwnFile own_{path_};
};

TEST_F(OwnFileTest, IsReadableForRootAloneAndLeavesNothingBeside) {
  ASSERT_TRUE(own_.write(kText).has_value());

  struct stat status{};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
  EXPECT_EQ(sys::read_file(path_).value(), kText);
  EXPECT_EQ(sys::list_directory(dir_.path()).value().size(), 1U);
  EXPECT_EQ(fate(), OwnFile::Fate::kThere);
}

// Pain 10
TEST_F(OwnFileTest, RefusesWhatARuntimeWouldRefuseAndStaysAsItIs) {
  ASSERT_TRUE(own_.write(kText).has_value());
  for (const char* bad : {"", "{", "[]", "{}", R"({"name":"","type":"t"})", R"({"name":"n"})",
                          R"({"type":"t"})", R"({"name":7,"type":"t"})"}) {
    EXPECT_FALSE(own_.write(bad).has_value()) << bad;
    EXPECT_FALSE(own_.update(bad).has_value()) << bad;
  }
  EXPECT_EQ(sys::read_file(path_).value(), kText);
}

TEST_F(OwnFileTest, IsUpdatedOnlyIfItSaysSomethingElse) {
  ASSERT_TRUE(own_.write(kText).has_value());
  const auto before = mark_of(path_);

  EXPECT_FALSE(own_.update(kText).value());
  EXPECT_EQ(mark_of(path_), before);
  EXPECT_TRUE(own_.update(R"({"name":"m","type":"t"})").value());
  EXPECT_NE(mark_of(path_), before);
}

TEST_F(OwnFileTest, TellsRemovedRenamedAndBrokenApart) {
  ASSERT_TRUE(own_.write(kText).has_value());
  std::filesystem::rename(path_, dir_ / "00-multus.conf.cilium_bak");
  const auto renamed = own_.state();
  EXPECT_EQ(renamed.fate, OwnFile::Fate::kRenamed);
  EXPECT_EQ(renamed.other_name, "00-multus.conf.cilium_bak");

  std::filesystem::remove(dir_ / "00-multus.conf.cilium_bak");
  EXPECT_EQ(fate(), OwnFile::Fate::kRemoved);
  dir_.write("00-multus.conf", "");
  EXPECT_EQ(fate(), OwnFile::Fate::kBroken);
  dir_.write("00-multus.conf", R"({"name":"another's","plugins":[]})");
  EXPECT_EQ(fate(), OwnFile::Fate::kThere);
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_EQ(fate(), OwnFile::Fate::kBroken);
}

TEST_F(OwnFileTest, IsRemovedOnlyWhileItIsTheOneWeWrote) {
  EXPECT_FALSE(own_.remove_if_ours().value());
  ASSERT_TRUE(own_.write(kText).has_value());
  OwnFile successor(path_);
  ASSERT_TRUE(successor.write(kText).has_value());

  EXPECT_FALSE(own_.remove_if_ours().value());
  EXPECT_TRUE(std::filesystem::exists(path_));
  EXPECT_TRUE(successor.remove_if_ours().value());
  EXPECT_FALSE(std::filesystem::exists(path_));
}

// 03, 12: row 130
TEST_F(OwnFileTest, IsWholeForAReaderDuringAThousandWrites) {
  ASSERT_TRUE(own_.write(kText).has_value());
  std::atomic<bool> ended = false;
  int wrong = 0;
  std::thread reader([&] {
    while (!ended) {
      struct stat status{};
      if (::stat(path_.c_str(), &status) != 0 || (status.st_mode & 07777) != 0600) ++wrong;
      const auto text = sys::read_file(path_);
      if (!text || !json::parse_object(*text)) ++wrong;
    }
  });

  for (int i = 0; i < 1000; ++i) {
    const std::string text = cat(R"({"name":"n)", i, R"(","type":"t","pad":")",
                                 std::string(static_cast<std::size_t>(i), 'x'), "\"}");
    EXPECT_TRUE(own_.update(text).value_or(false));
  }
  ended = true;
  reader.join();

  EXPECT_EQ(wrong, 0);
}

TEST_F(OwnFileTest, NeedsItsDirectory) {
  OwnFile lost(dir_ / "gone/00-multus.conf");
  EXPECT_FALSE(lost.write(kText).has_value());
  EXPECT_EQ(lost.state().fate, OwnFile::Fate::kRemoved);
}

TEST(FileMark, DiffersWhenALinkLeadsElsewhere) {
  const sys::TestDir dir;
  dir.write("a", "same");
  dir.write("b", "same");
  std::filesystem::create_symlink("a", dir / "link");
  const auto before = mark_of(dir / "link");

  std::filesystem::remove(dir / "link");
  EXPECT_EQ(mark_of(dir / "link"), std::nullopt);
  std::filesystem::create_symlink("b", dir / "link");
  EXPECT_NE(mark_of(dir / "link"), before);
}

}  // namespace
}  // namespace mnet::nodeconf
