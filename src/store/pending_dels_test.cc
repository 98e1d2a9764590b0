#include "store/pending_dels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "base/text.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::store {
namespace {

using testing::Contains;
using testing::IsEmpty;

class PendingDelsTest : public testing::Test {
 protected:
  // Leaves a record as the shim does.
  void leave(const std::string& container_id, const std::string& ifname, const std::string& body) {
    const std::string directory = pending_del_directory(dir_.path());
    ASSERT_TRUE(sys::make_directories(directory, 0700).has_value());
    ASSERT_TRUE(
        sys::replace_file(directory + "/" + pending_del_file(container_id, ifname), body, 0600)
            .has_value());
  }

  sys::TestDir dir_;
  PendingDels dels_{dir_.path()};
};

TEST_F(PendingDelsTest, AreFoundAsTheShimLeftThem) {
  leave("c2", "eth0", "two");
  leave("c1", "eth0", "one");
  dir_.write("pending-del/.multus-tmp-1", "half");
  dir_.write("pending-del/note.txt", "");
  std::filesystem::create_directories(dir_ / "pending-del/bad");

  const auto records = dels_.list().value();

  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].file, "c1-eth0.json");
  EXPECT_EQ(records[1].file, "c2-eth0.json");
  EXPECT_EQ(dels_.read("c1-eth0.json").value()->body.value(), "one");
  EXPECT_EQ(dels_.find("c2", "eth0").value()->body.value(), "two");
  EXPECT_FALSE(dels_.find("c3", "eth0").value().has_value());
}

TEST_F(PendingDelsTest, AreNoneWithoutADirectory) {
  EXPECT_THAT(dels_.list().value(), IsEmpty());
  EXPECT_FALSE(dels_.find("c1", "eth0").value().has_value());
  EXPECT_FALSE(dels_.remove("c1-eth0.json").value());
}

TEST_F(PendingDelsTest, AreRemoved) {
  leave("c1", "eth0", "one");

  EXPECT_TRUE(dels_.remove("c1-eth0.json").value());

  EXPECT_THAT(dels_.list().value(), IsEmpty());
  EXPECT_FALSE(dels_.remove("c1-eth0.json").value());
}

// 03, row 162.
TEST_F(PendingDelsTest, ThatCannotBeReadAreListedSoThatTheyCanBeSetAside) {
  std::filesystem::create_directories(dir_ / "pending-del/c1-eth0.json");

  const auto records = dels_.list().value();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_FALSE(dels_.read(records[0].file).value()->body.has_value());
  EXPECT_TRUE(dels_.set_aside(records[0].file).has_value());

  EXPECT_THAT(dels_.list().value(), IsEmpty());
  EXPECT_TRUE(std::filesystem::is_directory(dir_ / "pending-del/bad/c1-eth0.json"));
}

TEST_F(PendingDelsTest, ThatSayTheSameKeepTheirAge) {
  ASSERT_TRUE(dels_.keep("c1", "eth0", "first").value());
  const std::filesystem::path path = dir_ / "pending-del/c1-eth0.json";
  const auto now = std::filesystem::file_time_type::clock::now();
  std::filesystem::last_write_time(path, now - std::chrono::hours(1));

  EXPECT_FALSE(dels_.keep("c1", "eth0", "first").value());
  const auto age = std::chrono::system_clock::now() - dels_.list().value()[0].written;
  EXPECT_GE(age, std::chrono::minutes(59));

  EXPECT_TRUE(dels_.keep("c1", "eth0", "second").value());
  EXPECT_EQ(dels_.find("c1", "eth0").value()->body.value(), "second");
  // A clock that was set back since.
  std::filesystem::last_write_time(path, now + std::chrono::hours(1));
  EXPECT_TRUE(dels_.keep("c1", "eth0", "second").value());
}

TEST_F(PendingDelsTest, OfOneNameAreSetAsideSideBySide) {
  leave("c1", "eth0", "first");
  ASSERT_TRUE(dels_.set_aside("c1-eth0.json").has_value());
  leave("c1", "eth0", "second");
  ASSERT_TRUE(dels_.set_aside("c1-eth0.json").has_value());

  EXPECT_EQ(sys::read_file(dir_ / "pending-del/bad/c1-eth0.json").value(), "first");
  EXPECT_EQ(sys::read_file(dir_ / "pending-del/bad/c1-eth0.json.1").value(), "second");
  EXPECT_EQ(std::filesystem::status(dir_ / "pending-del/bad").permissions(),
            std::filesystem::perms::owner_all);
  EXPECT_FALSE(dels_.set_aside("c1-eth0.json").has_value());
}

// A file that is damaged again and again fills no disk.
TEST_F(PendingDelsTest, OfOneNameAreKeptTenTimesWhenSetAside) {
  for (int i = 0; i < 12; ++i) {
    leave("c1", "eth0", cat("try ", i));
    ASSERT_TRUE(dels_.set_aside("c1-eth0.json").has_value());
  }

  const auto aside = dels_.list_set_aside().value();
  EXPECT_EQ(aside.size(), 10u);
  EXPECT_THAT(aside, Contains("c1-eth0.json"));
  EXPECT_EQ(sys::read_file(dir_ / "pending-del/bad/c1-eth0.json.9").value(), "try 11");
  EXPECT_THAT(PendingDels(dir_ / "none").list_set_aside().value(), IsEmpty());
}

TEST_F(PendingDelsTest, AreNeverLookedForElsewhere) {
  const std::string outside = dir_.write("x.json", "");
  ASSERT_TRUE(sys::make_directories(dir_ / "pending-del", 0700).has_value());

  EXPECT_FALSE(dels_.remove("../x.json").has_value());
  EXPECT_FALSE(dels_.set_aside("../x.json").has_value());
  EXPECT_FALSE(dels_.find("../x", "y").value().has_value());
  EXPECT_TRUE(std::filesystem::exists(outside));
}

}  // namespace
}  // namespace mnet::store
