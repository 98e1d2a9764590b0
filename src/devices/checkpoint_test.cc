#include "devices/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/result.h"
#include "base/text.h"
#include "sys/test_dir.h"

namespace mnet::devices {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

std::string entry(const std::string& uid, const std::string& container, const std::string& ids) {
  return cat(R"({"PodUID":")", uid, R"(","ContainerName":")", container,
             R"(","ResourceName":"r","DeviceIDs":)", ids, R"(,"AllocResp":"x"})");
}
std::string file(const std::string& entries) {
  return cat(R"({"Data":{"PodDeviceEntries":[)", entries,
             R"(],"RegisteredDevices":{"r":["1"],"s":null}},"Checksum":1})");
}

// 02, 12: row 85; pain 24
TEST(Checkpoint, FollowsThePodsContainersAndSortsWithinEach) {
  auto read = parse_checkpoint(
      file(entry("u", "b", R"({"-1":["3"],"0":["1"]})") + "," + entry("u", "init", R"(["0"])") +
           "," + entry("u", "a", R"(["2"])") + "," + entry("v", "a", R"(["9"])")));

  ASSERT_TRUE(read.has_value()) << read.error().text();
  EXPECT_THAT(*devices_of(*read, "u", {"b", "a"}),
              ElementsAre(Pair("r", ElementsAre("1", "3", "2"))));
  EXPECT_THAT(*devices_of(*read, "u", {"a", "b"}),
              ElementsAre(Pair("r", ElementsAre("2", "1", "3"))));
  EXPECT_THAT(*devices_of(*read, "u", {}), ElementsAre(Pair("r", ElementsAre("2", "1", "3", "0"))));
  EXPECT_THAT(*devices_of(*read, "other", {"a"}), IsEmpty());
  EXPECT_TRUE(needs_order(*read, "u"));
  EXPECT_FALSE(needs_order(*read, "v"));
  EXPECT_THAT(read->registered, ElementsAre("r", "s"));
}

// 02, 12: row 86
TEST(Checkpoint, ThatCannotBeReadIsAnErrorAndNotEmpty) {
  const sys::TestDir dir;
  const auto error_of = [&dir](const std::string& text) {
    auto loaded = load_checkpoint(dir.write("checkpoint", text));
    return loaded ? "" : loaded.error().text();
  };
  EXPECT_THAT(load_checkpoint(dir / "none").error().text(), HasSubstr("error reading file"));
  for (const char* text : {"", "[]", "{\"Data\":[]}", "BAD BAD DATA"}) {
    EXPECT_THAT(error_of(text), HasSubstr("error unmarshalling raw bytes")) << text;
  }
  for (const char* ids : {"\"1\"", "[1]", R"({"numa0":["1"]})", R"({"0":"1"})"}) {
    EXPECT_THAT(error_of(file(entry("u", "c", ids))), HasSubstr("error unmarshalling raw bytes"))
        << ids;
  }
}

TEST(Checkpoint, NeedsAUid) {
  EXPECT_THAT(devices_of({}, "", {}).error().text(), HasSubstr("cannot be empty"));
}

}  // namespace
}  // namespace mnet::devices
