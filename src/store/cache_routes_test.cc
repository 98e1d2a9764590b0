#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "json/json.h"
#include "store/store.h"

namespace mnet::store {
namespace {

constexpr Families kV4{.v4 = true, .v6 = false};
constexpr Families kV6{.v4 = false, .v6 = true};
constexpr Families kBoth{.v4 = true, .v6 = true};

// What is left of `result` after a removal, or the error.
std::string without(std::string_view result, Families families) {
  auto file = json::parse_object(cat(R"({"result":)", result, "}")).value();
  if (auto deleted = delete_default_routes(file, families); !deleted) return deleted.error().text();
  return json::dump(*file.find("result"));
}

std::string with(std::string_view result, const std::vector<std::string>& gateways) {
  auto file = json::parse_object(cat(R"({"result":)", result, "}")).value();
  if (auto added = add_default_routes(file, gateways); !added) return added.error().text();
  return json::dump(*file.find("result"));
}

TEST(CachedRoutes, AreRecognisedAsDefaultInEverySpelling) {
  for (const std::string_view dst : {"::/0", "::0/0", "0::/0", "0:0:0:0:0:0:0:0/00", "fd00::1/0"}) {
    EXPECT_EQ(without(cat(R"({"cniVersion":"1.0.0","routes":[{"dst":")", dst, R"("}]})"), kV6),
              R"({"cniVersion":"1.0.0"})")
        << dst;
  }
  EXPECT_EQ(
      without(R"({"cniVersion":"1.0.0","routes":[{"dst":"10.0.0.0/0"},{"dst":"::/0"}]})", kV4),
      R"({"cniVersion":"1.0.0","routes":[{"dst":"::/0"}]})");
}

TEST(CachedRoutes, StayIfTheyAreNoDefaultRoutesOrNotToBeUnderstood) {
  constexpr std::string_view kRoutes =
      R"({"cniVersion":"1.1.0","routes":[{"gw":"10.0.0.1"},{"dst":"0.0.0.0/1"},{"dst":"::/1"},{"dst":"default"}]})";

  EXPECT_EQ(without(kRoutes, kBoth), kRoutes);
}

TEST(CachedRoutes, OfEveryVersionThatHasThemInOneListAreEdited) {
  for (const std::string_view version : {"0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0", "1.2.0"}) {
    EXPECT_EQ(
        with(cat(R"({"cniVersion":")", version, R"("})"), {"10.0.0.1", "fd00::1"}),
        cat(R"({"cniVersion":")", version,
            R"(","routes":[{"dst":"0.0.0.0/0","gw":"10.0.0.1"},{"dst":"::/0","gw":"fd00::1"}]})"));
  }
}

TEST(CachedRoutes, OfOldResultsLieWithTheAddressOfTheirFamily) {
  for (const std::string_view version :
       {"", R"("cniVersion":"",)", R"("cniVersion":"0.1.0",)", R"("cniVersion":"0.2.0",)"}) {
    EXPECT_EQ(with(cat("{", version, R"("ip4":{"ip":"1.2.3.4/8"}})"), {"fd00::1", "10.0.0.1"}),
              cat("{", version,
                  R"("ip4":{"ip":"1.2.3.4/8","routes":[{"dst":"0.0.0.0/0","gw":"10.0.0.1"}]}})"));
  }
}

TEST(CachedRoutes, CanBeAddedWhereTheOriginalLeftNull) {
  EXPECT_EQ(with(R"({"ip4":{"routes":null}})", {"10.0.0.1"}),
            R"({"ip4":{"routes":[{"dst":"0.0.0.0/0","gw":"10.0.0.1"}]}})");
  EXPECT_EQ(without(R"({"ip4":{"routes":null}})", kV4), R"({"ip4":{"routes":null}})");
}

TEST(CachedRoutes, TakeAMappedGatewayForIpv4) {
  EXPECT_EQ(with(R"({"cniVersion":"1.0.0"})", {"::ffff:10.0.0.1"}),
            R"({"cniVersion":"1.0.0","routes":[{"dst":"0.0.0.0/0","gw":"10.0.0.1"}]})");
  EXPECT_EQ(with(R"({"cniVersion":"1.0.0"})", {"x"}), "invalid IP address: x");
}

TEST(CachedRoutes, OfAFamilyThatIsNotAskedForAreNotLookedAt) {
  EXPECT_EQ(without(R"({"ip4":5,"ip6":{"routes":[{"dst":"::/0"}]}})", kV6),
            R"({"ip4":5,"ip6":{}})");
  EXPECT_EQ(without(R"({"ip4":5})", {}), R"({"ip4":5})");
  EXPECT_EQ(without(R"({"cniVersion":"1.0.0","routes":[]})", {}),
            R"({"cniVersion":"1.0.0","routes":[]})");
}

TEST(CachedRoutes, SayWhatIsWrongWithTheFile) {
  json::Object empty;
  json::Object wrong{{"result", 5}};
  EXPECT_EQ(delete_default_routes(empty, kV4).error().text(), "cannot get result from cache");
  EXPECT_EQ(add_default_routes(wrong, {}).error().text(), "wrong result type");
  EXPECT_EQ(without(R"({"cniVersion":1})", kV4), "wrong cniVersion format");
  EXPECT_EQ(without(R"({"cniVersion":"0.9.0"})", kV4), "not supported version: 0.9.0");
  EXPECT_EQ(without(R"({"cniVersion":"zz"})", kV4), "not supported version: zz");
  EXPECT_EQ(with(R"({"cniVersion":"0.3"})", {}), "not supported version: 0.3");
  EXPECT_EQ(without(R"({"cniVersion":"1.0.0","routes":{}})", kV4), "wrong routes format");
  EXPECT_EQ(with(R"({"cniVersion":"1.0.0","routes":{}})", {}), "wrong routes format");
  EXPECT_EQ(without(R"({"cniVersion":"1.0.0","routes":["x"]})", kV4), "wrong route format");
  EXPECT_EQ(without(R"({"cniVersion":"1.0.0","routes":[{"dst":0}]})", kV4), "wrong dst format");
  EXPECT_EQ(without(R"({"ip4":[]})", kV4), "wrong ip4 format");
  EXPECT_EQ(without(R"({"ip6":[]})", kV6), "wrong ip6 format");
  EXPECT_EQ(without(R"({"ip6":{"routes":1}})", kV6), "wrong ip6 routes format");
  EXPECT_EQ(with(R"({"ip4":{"routes":1}})", {"10.0.0.1"}), "wrong ip4 routes format");
}

TEST(CachedRoutes, AreAsTheyWereAfterAnError) {
  auto file = json::parse_object(
                  R"({"result":{"ip4":{"routes":[{"dst":"0.0.0.0/0"}]},"ip6":{"routes":1}}})")
                  .value();
  const json::Object before = file;

  EXPECT_FALSE(delete_default_routes(file, kBoth).has_value());

  EXPECT_EQ(json::Value(file), json::Value(before));
}

}  // namespace
}  // namespace mnet::store
