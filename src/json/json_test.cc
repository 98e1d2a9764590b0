#include "json/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"

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

TEST(JsonParse, LetsTheLastOfSeveralEqualKeysWinInItsPlace) {
  EXPECT_EQ(round_trip(R"({"a":1,"b":2,"a":3})"), R"({"b":2,"a":3})");
  std::string many;
  for (int i = 0; i < 40; ++i) many += cat(R"("k)", i % 20, R"(":)", i, ",");
  const auto object = parse_object(cat("{", many, R"("k3":0})")).value();
  EXPECT_EQ(object.size(), 20u);
  EXPECT_EQ(*object.find("k4"), Value(24));
  EXPECT_EQ((object.end() - 1)->first, "k3");
}

// Programs read such a text differently (docs/testing.md).
TEST(JsonParse, RefusesARepeatedKeyThatReadersTakeDifferently) {
  std::string many;
  for (int i = 0; i < 40; ++i) many += cat(R"("k)", i, R"(":0,)");
  for (const std::string& text :
       {std::string(R"({"a":1,"a":null})"), std::string(R"({"a":null,"a":1})"),
        std::string(R"({"a":1,"a":"1"})"), std::string(R"({"a":1.5,"a":1})"),
        std::string(R"({"a":1,"a":1,"a":[]})"), std::string(R"([{"b":{"a":{},"c":1,"a":{}}}])"),
        cat("{", many, R"("a":1,"a":{}})")}) {
    const auto value = parse_unambiguous(text);
    ASSERT_FALSE(value.has_value()) << text;
    EXPECT_THAT(value.error().text(), testing::HasSubstr(R"(the key "a" is repeated)"));
  }
  EXPECT_TRUE(parse_unambiguous(R"({"a":{"a":1},"A":[{"a":1},{"a":1}]})").has_value());
  EXPECT_EQ(parse_unambiguous(R"({"a":1,"b":"x","a":2,"b":"y"})").value(),
            Value(Object{{"a", 2}, {"b", "y"}}));
}

TEST(JsonParse, SaysInWhichObjectAKeyIsRepeated) {
  const auto error = [](const std::string& text) { return parse_unambiguous(text).error().text(); };

  EXPECT_EQ(error(R"({"plugins":[{"type":"a"},{"ipam":{"x":[],"x":[]}}]})"),
            R"(line 1, column 49: plugins[1].ipam: the key "x" is repeated)");
  EXPECT_EQ(error(R"([[{"x":[],"x":[]}]])"),
            R"(line 1, column 18: [0][0]: the key "x" is repeated)");
  EXPECT_EQ(error(R"({"x":[],"x":[]})"), R"(line 1, column 16: the key "x" is repeated)");
  const std::string deep = error(cat(R"({")", std::string(5000, 'k'), R"(\n":{"x":[],"x":[]}})"));
  EXPECT_THAT(deep, HasSubstr(R"(kkk...: the key "x" is repeated)"));
  EXPECT_LT(deep.size(), 200u);
  EXPECT_EQ(error(R"({"a":{"b":?}})"), "line 1, column 11: expected a value");
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

TEST(JsonParse, LeavesOutMembersThatAreNotWanted) {
  constexpr std::array<std::string_view, 2> kNames = {"a", "b"};
  const auto parsed = [&](std::string_view text) {
    const auto object = parse_object_without(kNames, text);
    return object ? dump(*object) : object.error().text();
  };

  EXPECT_EQ(parsed(R"({"a":1,"c":2})"), R"({"c":2})");
  EXPECT_EQ(parsed(R"({"c":{"b":[{"x":"]}\"\\"},[]],"d":1},"a":{}})"), R"({"c":{"d":1}})");
  EXPECT_EQ(parsed(R"({"a":"x","b":null})"), "{}");
  EXPECT_EQ(parsed(R"({"A":1,"c":[{"a":true}]})"), R"({"A":1,"c":[{}]})");
  EXPECT_EQ(parsed(R"({"a":[{"b":1})"), "line 1, column 14: unexpected end of the text");
  EXPECT_EQ(parsed(R"({"a":"[)"), "line 1, column 8: unexpected end of the text");
  EXPECT_EQ(parsed(R"({"a":[] "c":1})"), "line 1, column 9: expected ',' or '}'");
  EXPECT_EQ(parsed("[]"), "expected an object, got a list");
}

// A value takes twenty times as much memory as its text may have.
TEST(JsonParse, BuildsSoManyValuesOfAnObjectAndNoMore) {
  const auto with_zeros = [](std::size_t count) {
    std::string text = R"({"a":[)";
    for (std::size_t i = 0; i < count; ++i) text += i == 0 ? "0" : ",0";
    return text + "]}";
  };
  constexpr std::string_view kSkipped[] = {"a"};

  EXPECT_TRUE(parse_object_without({}, with_zeros(kMostValues - 2)).has_value());
  EXPECT_THAT(parse_object_without({}, with_zeros(kMostValues)).error().text(),
              HasSubstr("too many values"));
  EXPECT_TRUE(parse_object_without(kSkipped, with_zeros(kMostValues)).has_value());
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

// Two objects of so many members that comparing each with each would not end.
constexpr int kVeryMany = 100'000;

TEST(JsonValue, ComparesObjectsOfManyMembers) {
  Object forward, backward;
  for (int i = 0; i < kVeryMany; ++i) {
    forward.append(cat("k", i), i);
    backward.append(cat("k", kVeryMany - 1 - i), kVeryMany - 1 - i);
  }

  const Value a = std::move(forward);
  Value b = std::move(backward);

  EXPECT_TRUE(a == b);
  b.as_object()->set("k7", 8);
  EXPECT_FALSE(a == b);
}

TEST(JsonObject, SetsAllMembersOfAnotherInPlaceOrBehind) {
  Object object{{"a", 1}, {"b", 2}};
  object.set_all({{"c", 3}, {"a", 4}});
  EXPECT_EQ(dump(object), R"({"a":4,"b":2,"c":3})");

  Object many;
  for (int i = 0; i < kVeryMany; ++i) many.append(cat("k", i), i);
  object.set_all(many);
  object.set_all(many);
  EXPECT_EQ(object.size(), 3u + kVeryMany);
}

// Tenants write keys of any length, and every key is compared with every known one: of a long key
// not a byte is looked at.
TEST(JsonObject, DoesNotReadAKeyThatIsTooLongForAKnownOne) {
  constexpr std::size_t kLength = 1u << 20;
  void* unreadable = ::mmap(nullptr, kLength, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(unreadable, MAP_FAILED);
  const std::string_view key(static_cast<const char*>(unreadable), kLength);

  EXPECT_FALSE(is_spelling_of(key, "type"));
  EXPECT_FALSE(is_spelling_of(key.substr(0, 13), "type"));

  ::munmap(unreadable, kLength);
}

TEST(JsonObject, FindsTheLastSpellingOfAKeyAsGoDoes) {
  const auto found = [](std::string_view text, std::string_view key) {
    return *parse_object(text).value().find_folded(key);
  };
  EXPECT_EQ(found(R"({"NAME":1,"name":2,"Name":3})", "name"), Value(3));
  EXPECT_EQ(found(R"({"Name":1,"name":2,"Name":3,"name":4})", "name"), Value(4));
  EXPECT_EQ(found(R"({"name":1,"Name":2,"name":3,"Name":4})", "name"), Value(4));
  // The long s and the Kelvin sign.
  EXPECT_EQ(found("{\"name\xc5\xbfpace\":1}", "namespace"), Value(1));
  EXPECT_EQ(found("{\"\xe2\x84\xaaubeconfig\":1}", "kubeconfig"), Value(1));
  EXPECT_EQ(parse_object(R"({"name":1})")->find("Name"), nullptr);
}

TEST(JsonObject, ReplacesAndErasesEverySpelling) {
  auto object = parse_object("{\"IPs\":1,\"ip\xc5\xbf\":2,\"ip\":3}").value();
  object.set_folded("ips", 4);
  EXPECT_EQ(dump(object), R"({"ip":3,"ips":4})");
  object.erase_folded("IP");
  EXPECT_EQ(dump(object), R"({"ips":4})");
}

}  // namespace
}  // namespace mnet::json
