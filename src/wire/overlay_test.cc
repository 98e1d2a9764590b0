#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "json/json.h"
#include "wire/wire.h"

namespace mnet::wire {
namespace {

using testing::StartsWith;

std::string laid_over(std::string_view config, std::string_view server, bool drop = false) {
  const auto parsed = parse_server_config(server);
  EXPECT_TRUE(parsed.has_value()) << server;
  return json::dump(overlay(parse_config(config).value(), *parsed, drop));
}

// 03, 12: row 41.
TEST(Overlay, ReplacesWholeValuesOfKnownAndUnknownKeys) {
  EXPECT_EQ(laid_over(R"({"a":{"x":1},"b":2,"c":3})", R"({"a":{"y":2},"b":null,"z":"<"})"),
            R"({"a":{"y":2},"b":null,"c":3,"z":"\u003c"})");
}

TEST(Overlay, LeavesNoOtherSpellingOfTheDaemonsKeys) {
  EXPECT_EQ(laid_over(R"({"binDir":"/a","bindir":"/b","X":1})", R"({"binDir":"/d"})"),
            R"({"binDir":"/d","X":1})");
}

// 03, 12: rows 41 and 42.
TEST(Overlay, DropsTheReadinessIndicatorOfBothSidesInAnyLetterCase) {
  const std::string_view config =
      R"({"readinessIndicatorFile":"/a","x":1,"readinessindicatorfile":"/b"})";
  const std::string_view server = R"({"READINESSINDICATORFILE":"/c","y":2})";

  EXPECT_EQ(laid_over(config, server, true), R"({"x":1,"y":2})");
  EXPECT_EQ(
      laid_over(R"({"readinessindicatorfile":"/b"})", R"({"readinessindicatorfile":"/c"})", false),
      R"({"readinessindicatorfile":"/c"})");
}

// 03, 12: row 43.
TEST(Overlay, KeepsNumbersAsTheyAreWritten) {
  EXPECT_EQ(
      laid_over(R"({"a":9007199254740993,"b":1e400,"c":[1.50]})", R"({"d":12345678901234567890})"),
      R"({"a":9007199254740993,"b":1e400,"c":[1.50],"d":12345678901234567890})");
}

TEST(Overlay, DropsTheReadinessIndicatorOfTheRequestAlone) {
  EXPECT_EQ(laid_over(R"({"readinessindicatorfile":1,"a":2})", "{}", true), R"({"a":2})");
}

// 03, 12: row 29.
TEST(Overlay, RefusesAConfigurationThatIsNoObject) {
  for (const char* config : {"", "null", "[]", R"({"a")", "5"}) {
    EXPECT_THAT(parse_config(config).error().text(),
                StartsWith("failed to unmarshall CNI config: "))
        << config;
  }
}

TEST(ServerConfig, MustBeAnObject) {
  for (const char* text : {"", "{", "null", "[]"}) {
    EXPECT_THAT(parse_server_config(text).error().text(),
                StartsWith("failed to unmarshall CNI override config: "))
        << text;
  }
}

}  // namespace
}  // namespace mnet::wire
