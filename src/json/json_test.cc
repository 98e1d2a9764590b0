#include "json/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

namespace mnet::json {
namespace {

using testing::HasSubstr;

std::string round_trip(std::string_view text) {
  auto value = parse(text);
  return value ? dump(*value) : "error: " + value.error().text();
}

TEST(JsonParse, KeepsNumbersAsTheyWereWritten) {
  EXPECT_EQ(round_trip("[1.50,1e400,12345678901234567890,-0,9223372036854775807]"),
            "[1.50,1e400,12345678901234567890,-0,9223372036854775807]");
}

TEST(JsonParse, LetsTheLastOfSeveralEqualKeysWinInTheFirstOnesPlace) {
  EXPECT_EQ(round_trip(R"({"a":1,"b":2,"a":3})"), R"({"a":3,"b":2})");
}

TEST(JsonParse, ReplacesInvalidBytesAndLoneSurrogates) {
  EXPECT_EQ(round_trip("\"a\xff\""), "\"a\xef\xbf\xbd\"");
  EXPECT_EQ(round_trip(R"("\ud800x")"), "\"\xef\xbf\xbdx\"");
  EXPECT_EQ(round_trip(R"("\ud800\n")"), "\"\xef\xbf\xbd\\n\"");
  EXPECT_EQ(round_trip(R"("\ud83d\ude00")"), "\"\xf0\x9f\x98\x80\"");
  EXPECT_EQ(round_trip(R"("\ud83d\ud83d\ude00")"), "\"\xef\xbf\xbd\xf0\x9f\x98\x80\"");
}

TEST(JsonParse, RefusesWhatIsNotStrictJson) {
  for (const char* bad : {"",          " ",       "{",     "[1,]",   "{\"a\":1,}",
                          "{} {}",     "// c\n1", "01",    "1.",     ".5",
                          "+1",        "1e",      "nul",   "\"\n\"", "\"\\x\"",
                          "\"\\u12\"", "'a'",     "{a:1}", "[1 2]",  "\xef\xbb\xbf{}",
                          "-"}) {
    EXPECT_FALSE(parse(bad).has_value()) << bad;
  }
}

TEST(JsonParse, SaysWhereItWentWrong) {
  auto value = parse("{\n  \"a\": x\n}");
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().text(), "line 2, column 8: expected a value");
}

TEST(JsonParse, BoundsNesting) {
  const std::string allowed = std::string(1000, '[') + std::string(1000, ']');
  EXPECT_TRUE(parse(allowed).has_value());
  auto refused = parse(std::string(5000, '['));
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().text(), HasSubstr("nested too deeply"));
}

TEST(JsonDump, EscapesAsGoDoes) {
  EXPECT_EQ(dump("<a>&\xe2\x80\xa8\x01"), R"("\u003ca\u003e\u0026\u2028\u0001")");
  EXPECT_EQ(dump("<", {.escape_html = false}), "\"<\"");
}

TEST(JsonDump, SortsAndIndentsWhenAsked) {
  const Value value = Object{{"b", Array{1, Object{}}}, {"a", Array{}}};
  EXPECT_EQ(dump(value, kSorted), R"({"a":[],"b":[1,{}]})");
  EXPECT_EQ(dump(value, kPretty),
            "{\n    \"b\": [\n        1,\n        {}\n    ],\n    \"a\": []\n}");
}

TEST(JsonNumber, IsAnIntegerOnlyWhenWrittenAsOne) {
  EXPECT_EQ(Number::of_text("7").as_int64(), 7);
  for (const char* none : {"1.0", "1e3", "9223372036854775808"}) {
    EXPECT_EQ(Number::of_text(none).as_int64(), std::nullopt) << none;
  }
  EXPECT_EQ(Number::of_text("-1").as_uint64(), std::nullopt);
}

TEST(JsonNumber, ComparesByExactValue) {
  EXPECT_EQ(Number::of_text("1.0"), Number::of_text("1"));
  EXPECT_EQ(Number::of_text("100"), Number::of_text("1e2"));
  EXPECT_EQ(Number::of_text("0"), Number::of_text("-0.0"));
  EXPECT_FALSE(Number::of_text("9007199254740993") == Number::of_text("9007199254740992"));
  EXPECT_FALSE(Number::of_text("1") == Number::of_text("-1"));
}

TEST(JsonValue, ComparesObjectsWhateverTheOrder) {
  EXPECT_EQ(parse(R"({"a":1,"b":[1,2]})").value(), parse(R"({"b":[1,2],"a":1.0})").value());
  EXPECT_FALSE(parse("[1,2]").value() == parse("[2,1]").value());
  EXPECT_FALSE(parse(R"({"a":null})").value() == parse("{}").value());
}

TEST(JsonObject, PrefersTheExactKeyOverOneInAnotherCase) {
  const auto object = parse_object(R"({"NAME":1,"name":2,"Name":3})").value();
  EXPECT_EQ(*object.find_folded("name"), Value(2));
  EXPECT_EQ(*object.find_folded("nAme"), Value(3));
  EXPECT_EQ(object.find("nAme"), nullptr);
}

}  // namespace
}  // namespace mnet::json
