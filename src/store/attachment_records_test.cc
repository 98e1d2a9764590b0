#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>
#include <string>

#include "base/durability.h"
#include "base/error.h"
#include "base/reading.h"
#include "json/json.h"
#include "store/store.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

mode_t mode_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

class AttachmentRecordsTest : public testing::Test {
 protected:
  void place(const std::string& name, const std::string& contents) {
    dir_.write("cni/_attachments/" + name, contents);
  }

  sys::TestDir dir_;
  AttachmentRecords records_{dir_ / "cni"};
};

// 05, 3.2.
TEST_F(AttachmentRecordsTest, ArePrivateFilesInADirectoryOfTheirOwn) {
  const json::Object record{{"version", 1}, {"containerID", "c1"}};

  ASSERT_TRUE(records_.write("c1", record, Durability::kDurable).has_value());

  EXPECT_EQ(sys::read_file(dir_ / "cni/_attachments/c1.json").value(),
            R"({"version":1,"containerID":"c1"})");
  EXPECT_EQ(mode_of(dir_ / "cni/_attachments"), 0700u);
  EXPECT_EQ(mode_of(dir_ / "cni/_attachments/c1.json"), 0600u);
  EXPECT_TRUE(records_.has("c1"));
  EXPECT_EQ(json::Value(*records_.find("c1").value()), json::Value(record));
}

TEST_F(AttachmentRecordsTest, AreReplacedWholeAndLeaveNoTemporaryName) {
  ASSERT_TRUE(records_.write("c1", {{"version", 1}}, Durability::kInPlace).has_value());
  ASSERT_TRUE(records_.write("c1", {{"version", 2}}, Durability::kInPlace).has_value());

  EXPECT_EQ(sys::read_file(dir_ / "cni/_attachments/c1.json").value(), R"({"version":2})");
  EXPECT_EQ(sys::list_directory(dir_ / "cni/_attachments").value().size(), 1u);
}

TEST_F(AttachmentRecordsTest, ThatAreMissingAreNone) {
  EXPECT_FALSE(records_.has("c1"));
  EXPECT_FALSE(records_.find("c1").value().has_value());
  EXPECT_FALSE(records_.remove("c1", Durability::kDurable).value());
  EXPECT_THAT(records_.list().value(), IsEmpty());
}

TEST_F(AttachmentRecordsTest, ThatAreDamagedAreSaidToBe) {
  for (const char* text : {"", "{\"ver", "null", "[]", "5", "\"x\"", "{} {}", "\xff\xfe"}) {
    place("c1.json", text);

    const auto found = records_.find("c1");

    ASSERT_FALSE(found.has_value()) << text;
    EXPECT_EQ(found.error().code(), Errc::kProtocol) << text;
    EXPECT_THAT(found.error().text(), HasSubstr("/_attachments/c1.json: ")) << text;
    EXPECT_TRUE(records_.has("c1"));
  }
}

TEST_F(AttachmentRecordsTest, ADirectoryInTheirPlaceIsAnErrorAndStays) {
  std::filesystem::create_directories(dir_ / "cni/_attachments/c1.json");

  EXPECT_TRUE(records_.has("c1"));
  EXPECT_FALSE(records_.find("c1").has_value());
  EXPECT_FALSE(records_.write("c1", {}, Durability::kInPlace).has_value());
  EXPECT_FALSE(records_.remove("c1", Durability::kDurable).has_value());
}

// It may be ours: a DEL that took it for nothing would leave what it names.
TEST_F(AttachmentRecordsTest, ThatAreTooLargeAreNotSaidToBeDamaged) {
  place("c1.json", "{}");
  std::filesystem::resize_file(dir_ / "cni/_attachments/c1.json", (64u << 20) + 1);

  const auto found = records_.find("c1");

  ASSERT_FALSE(found.has_value());
  EXPECT_FALSE(is_damage(found.error())) << found.error().text();
}

TEST_F(AttachmentRecordsTest, AreRemoved) {
  for (const Durability durability : {Durability::kDurable, Durability::kInPlace}) {
    ASSERT_TRUE(records_.write("c1", {}, Durability::kInPlace).has_value());

    EXPECT_TRUE(records_.remove("c1", durability).value());

    EXPECT_FALSE(records_.has("c1"));
  }
}

TEST_F(AttachmentRecordsTest, AreListedByContainerWhateverElseLiesThere) {
  for (const char* name : {"c2.json", "c1.json", "a.b-c_d.json", ".json", ".multus-tmp-1.json",
                           "c3", "c4.json.bak", "_x.json", "results.json"}) {
    place(name, "{}");
  }
  std::filesystem::create_directories(dir_ / "cni/_attachments/c5.json");

  EXPECT_THAT(records_.list().value(), ElementsAre("a.b-c_d", "c1", "c2"));
}

TEST_F(AttachmentRecordsTest, NeverLeaveTheirDirectory) {
  const std::string outside = dir_.write("cni/x.json", "{}");
  place("c1.json", "{}");

  for (const std::string& id :
       {std::string("../x"), std::string(".."), std::string(), std::string("a/b"),
        std::string("_attachments"), std::string("results"), std::string("pending-del"),
        std::string("c1\0", 3)}) {
    EXPECT_FALSE(records_.write(id, {}, Durability::kInPlace).has_value()) << id;
    EXPECT_FALSE(records_.has(id)) << id;
    EXPECT_FALSE(records_.find(id).value().has_value()) << id;
    EXPECT_FALSE(records_.remove(id, Durability::kDurable).value()) << id;
  }
  EXPECT_TRUE(std::filesystem::exists(outside));
}

}  // namespace
}  // namespace mnet::store
