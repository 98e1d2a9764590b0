#include "store/cache_entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "cni/cache.h"
#include "json/json.h"
#include "sys/file.h"

namespace mnet::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;

Result<DecodedEntry> parsed(std::string_view text) {
  return parse_entry(json::parse(text).value());
}

cni::CacheEntry full_entry() {
  return {.container_id = "cid",
          .network = "net1",
          .ifname = "eth0",
          .netns = "/some/ns",
          .config = "{\"name\":\"net1\"}\n",
          .cni_args = {{"FOO", "BAR"}, {"A", ""}},
          .capability_args = {{"mac", "aa:bb"}},
          .result = json::Object{{"cniVersion", "0.4.0"}}};
}

// C1: the fields of 01, 6.2.
TEST(CacheEntry, IsOneCompactObjectInTheOriginalsOrder) {
  EXPECT_EQ(
      entry_text(full_entry()),
      R"({"kind":"cniCacheV1","containerId":"cid","config":"eyJuYW1lIjoibmV0MSJ9Cg==","ifName":"eth0","networkName":"net1",)"
      R"("netns":"/some/ns","cniArgs":[["FOO","BAR"],["A",""]],"capabilityArgs":{"mac":"aa:bb"},"result":{"cniVersion":"0.4.0"}})");
}

// C2.
TEST(CacheEntry, LeavesOutWhatIsEmpty) {
  EXPECT_EQ(
      entry_text({.container_id = "c",
                  .network = "n",
                  .ifname = "i",
                  .netns = "",
                  .config = "",
                  .cni_args = {},
                  .capability_args = {},
                  .result = {}}),
      R"({"kind":"cniCacheV1","containerId":"c","config":null,"ifName":"i","networkName":"n"})");
}

TEST(CacheEntry, IsReadBackAsItWasWritten) {
  const auto again = parsed(entry_text(full_entry())).value();

  EXPECT_EQ(again.kind, kCacheKind);
  EXPECT_EQ(entry_text(again.entry), entry_text(full_entry()));
}

// C3, the half that needs no cnitool: what the original wrote.
TEST(CacheEntry, OfTheOriginalIsRead) {
  const auto text = sys::read_file(
      "tests/data/recordings/state-after-add/"
      "mac1-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef-net1");
  ASSERT_TRUE(text.has_value());

  const auto decoded = parsed(*text).value();

  EXPECT_EQ(decoded.kind, kCacheKind);
  EXPECT_EQ(decoded.entry.network, "mac1");
  EXPECT_EQ(decoded.entry.ifname, "net1");
  EXPECT_EQ(decoded.entry.cni_args.at(0),
            std::pair(std::string("IgnoreUnknown"), std::string("true")));
  EXPECT_TRUE(json::parse_object(decoded.entry.config).has_value());
  ASSERT_TRUE(decoded.entry.result.has_value());
  // And written by us it is the same document.
  EXPECT_EQ(json::parse(entry_text(decoded.entry)).value(), json::parse(*text).value());
}

TEST(CacheEntry, ReadsPairsOfOtherLengthsAsTheOriginalDoes) {
  EXPECT_THAT(parsed(R"({"cniArgs":[["A"],["B","1","2"],[],null]})")->entry.cni_args,
              ElementsAre(Pair("A", ""), Pair("B", "1"), Pair("", ""), Pair("", "")));
  EXPECT_THAT(parsed(R"({"cniArgs":null,"capabilityArgs":null,"result":null})")->entry.cni_args,
              IsEmpty());
}

TEST(CacheEntry, RefusesAWrongTypeInAKnownMember) {
  for (const std::string_view text :
       {R"({"kind":1})", R"({"config":5})", R"({"config":"*"})", R"({"containerId":{}})",
        R"({"ifName":[]})", R"({"networkName":1})", R"({"netns":1})", R"({"cniArgs":{}})",
        R"({"cniArgs":["a"]})", R"({"cniArgs":[[1]]})", R"({"capabilityArgs":[]})",
        R"({"result":1})", "[]", "\"x\""}) {
    EXPECT_FALSE(parsed(text).has_value()) << text;
  }
}

std::string result_text(std::string_view file) {
  const auto result = result_in(std::string(file));
  return result ? json::dump(result->result) : result.error().text();
}

// C5, C6.
TEST(CacheFile, HoldsItsResultOrIsALegacyResultItself) {
  EXPECT_EQ(result_text(R"({"kind":"cniCacheV1","result":{"a":1}})"), R"({"a":1})");
  EXPECT_EQ(result_text(R"({"kind":"cniCacheV1"})"), "{}");
  EXPECT_EQ(result_text(R"({"kind":"cniCacheV2","result":{"a":1}})"),
            R"({"kind":"cniCacheV2","result":{"a":1}})");
  EXPECT_EQ(result_text(R"({"kind":"cniCacheV1","config":5})"),
            R"({"kind":"cniCacheV1","config":5})");
  EXPECT_EQ(result_text(R"({"cniVersion":"0.2.0"})"), R"({"cniVersion":"0.2.0"})");
}

// X13.
TEST(CacheFile, ThatIsNoJsonIsAnError) {
  EXPECT_THAT(result_text("garbage"), StartsWith("decoding version from network config: "));
  EXPECT_THAT(result_text(""), StartsWith("decoding version from network config: "));
}

}  // namespace
}  // namespace mnet::store
