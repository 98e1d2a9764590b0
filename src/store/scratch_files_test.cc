#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "base/durability.h"
#include "base/error.h"
#include "json/json.h"
#include "store/store.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

mode_t mode_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

class ScratchFilesTest : public testing::Test {
 protected:
  sys::TestDir dir_;
  ScratchFiles files_{dir_ / "cni"};
};

TEST_F(ScratchFilesTest, HoldOneListOnOneLineInPrivate) {
  const json::Array delegates{json::Object{{"Name", "a"}, {"Bytes", "e30="}}, json::Object()};

  ASSERT_TRUE(files_.write("c1", delegates, Durability::kDurable).has_value());

  EXPECT_EQ(sys::read_file(dir_ / "cni/c1").value(), R"([{"Name":"a","Bytes":"e30="},{}])");
  EXPECT_EQ(mode_of(dir_ / "cni/c1"), 0600u);
  EXPECT_EQ(mode_of(dir_ / "cni"), 0700u);
  EXPECT_EQ(files_.find("c1").value(), delegates);
}

TEST_F(ScratchFilesTest, OfTheOriginalAreRead) {
  std::filesystem::create_directories(dir_ / "cni");
  std::filesystem::copy_file("tests/data/recordings/state-after-add/scratch", dir_ / "cni/c1");

  const auto delegates = files_.find("c1").value();

  ASSERT_TRUE(delegates.has_value());
  EXPECT_EQ(delegates->size(), 3u);
}

TEST_F(ScratchFilesTest, AreAbsentUntilWrittenAndAfterRemoval) {
  EXPECT_EQ(files_.find("c1").value(), std::nullopt);
  EXPECT_FALSE(files_.remove("c1").value());
  ASSERT_TRUE(files_.write("c1", {}, Durability::kInPlace).has_value());
  EXPECT_TRUE(files_.sync("c1").has_value());

  EXPECT_TRUE(files_.remove("c1").value());

  EXPECT_EQ(files_.find("c1").value(), std::nullopt);
  EXPECT_TRUE(files_.sync("c1").has_value());
}

TEST_F(ScratchFilesTest, ThatAreDamagedAreAnErrorOfTheirOwnKind) {
  ASSERT_TRUE(sys::make_directories(dir_ / "cni", 0700).has_value());
  for (const char* contents : {"", "{", "null", "{}", "[{}", "\"x\""}) {
    dir_.write("cni/c1", contents);

    ASSERT_FALSE(files_.find("c1").has_value()) << contents;
    EXPECT_EQ(files_.find("c1").error().code(), Errc::kProtocol) << contents;
  }
}

TEST_F(ScratchFilesTest, ThatCannotBeReadAreAnError) {
  std::filesystem::create_directories(dir_ / "cni/c1");

  EXPECT_FALSE(files_.find("c1").has_value());
}

TEST_F(ScratchFilesTest, AreListedWithoutDirectoriesAndTemporaries) {
  EXPECT_THAT(files_.list().value(), IsEmpty());
  ASSERT_TRUE(files_.write("b", {}, Durability::kInPlace).has_value());
  ASSERT_TRUE(files_.write("a", {}, Durability::kInPlace).has_value());
  std::filesystem::create_directories(dir_ / "cni/results");
  std::filesystem::create_directories(dir_ / "cni/pending-del");
  dir_.write("cni/.multus-tmp-x", "[]");
  dir_.write("cni/not a container", "[]");

  EXPECT_THAT(files_.list().value(), ElementsAre("a", "b"));
}

TEST_F(ScratchFilesTest, AreNeverMadeOfANameThatLeadsElsewhere) {
  const std::string outside = dir_.write("x", "[]");
  ASSERT_TRUE(sys::make_directories(dir_ / "cni", 0700).has_value());

  for (const char* id : {"../x", "..", ".", "", "results", "pending-del", "_attachments", "a/b"}) {
    EXPECT_FALSE(files_.write(id, {}, Durability::kInPlace).has_value()) << id;
    EXPECT_EQ(files_.find(id).value(), std::nullopt) << id;
    EXPECT_FALSE(files_.remove(id).value()) << id;
  }
  EXPECT_TRUE(std::filesystem::exists(outside));
}

TEST(StoreSweep, RemovesWhatKilledWritersLeft) {
  const sys::TestDir dir;
  for (const char* sub : {"results", "pending-del", "_attachments"}) {
    std::filesystem::create_directories(dir / sub);
  }
  dir.write(".multus-tmp-1", "");
  dir.write("results/.multus-tmp-2", "");
  dir.write("pending-del/.multus-tmp-3", "");
  dir.write("_attachments/.multus-tmp-4", "");
  dir.write("c1", "[]");

  EXPECT_TRUE(sweep(dir.path(), 600).has_value());
  EXPECT_TRUE(std::filesystem::exists(dir / "results/.multus-tmp-2"));
  EXPECT_TRUE(sweep(dir.path(), -1).has_value());

  EXPECT_FALSE(std::filesystem::exists(dir / ".multus-tmp-1"));
  EXPECT_FALSE(std::filesystem::exists(dir / "results/.multus-tmp-2"));
  EXPECT_FALSE(std::filesystem::exists(dir / "pending-del/.multus-tmp-3"));
  EXPECT_FALSE(std::filesystem::exists(dir / "_attachments/.multus-tmp-4"));
  EXPECT_TRUE(std::filesystem::exists(dir / "c1"));
}

}  // namespace
}  // namespace mnet::store
