#include "json/count.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>

#include "json/json.h"

namespace mnet::json {
namespace {

std::size_t values_in(const Value& value) {
  std::size_t values = 1;
  if (const Array* items = value.as_array()) {
    for (const Value& item : *items) values += values_in(item);
  }
  if (const Object* object = value.as_object()) {
    for (const auto& [key, member] : *object) values += values_in(member);
  }
  return values;
}

TEST(Count, CountsElementsAndValues) {
  const auto elements = [](const char* text) { return count(text).elements; };
  const auto values = [](const char* text) { return count(text).values; };

  EXPECT_EQ(elements("[]"), 0u);
  EXPECT_EQ(elements(" [ \n] "), 0u);
  EXPECT_EQ(elements("[1,[2,3],{\"a\":[4,5]}]"), 3u);
  EXPECT_EQ(elements(R"(["],[\",","\\"])"), 2u);
  EXPECT_EQ(values("5"), 1u);
  EXPECT_EQ(values("[1,[2,3],{\"a\":[4,5]}]"), 9u);
  EXPECT_EQ(values(R"({"a":"b,c[{","d":null})"), 3u);
}

TEST(Count, KnowsHowLongATextBecomesWhenItIsWritten) {
  const auto bytes = [](std::string_view text) { return count(text).bytes; };

  EXPECT_EQ(bytes(R"({"a":"b"})"), 9u);
  EXPECT_EQ(bytes(R"(["<>&"])"), dump(*parse(R"(["<>&"])")).size());
  EXPECT_GE(bytes(R"(["\b\f\u0007"])"), dump(*parse(R"(["\b\f\u0007"])")).size());
  EXPECT_GE(bytes("[\"\xff\xe2\x80\xa8\"]"), dump(*parse("[\"\xff\xe2\x80\xa8\"]")).size());
}

TEST(Count, CountsObjectsInTheListsOfAnObject) {
  const auto listed = [](std::string_view text) { return count(text).listed; };

  EXPECT_EQ(listed(R"({"plugins":[{"a":[{}]},{"b":{"c":[{}]}}],"x":{"y":[{}]}})"), 2u);
  EXPECT_EQ(listed(R"({"a":[{}],"b":[[{}],{}]})"), 2u);
  EXPECT_EQ(listed(R"([{"a":[{}]}])"), 0u);
  EXPECT_EQ(listed(R"({"a":"[{"})"), 0u);
}

// Random pieces with a fixed seed: never less than the parser makes of them.
TEST(Count, IsNeverLessThanWhatIsParsed) {
  constexpr std::array kPieces = {"{\"a\":",   "{\"b\":1,",       "}",  "[",  "]", ",",  "0",
                                  "\"x,]<\"",  R"("\"[\\\b&")",   "{}", "[]", " ", "\n", "\"c\":2",
                                  "{\"d\":3}", "[1,2,{\"e\":[]}]"};
  std::minstd_rand random(7);  // NOLINT(bugprone-random-generator-seed): the same each time
  std::size_t accepted = 0;
  for (int i = 0; i < 10'000; ++i) {
    std::string text = random() % 2 == 0 ? "[" : "";
    const bool is_list = !text.empty();
    for (std::size_t left = random() % 8; left > 0; --left) {
      text += kPieces.at(random() % kPieces.size());
    }
    if (is_list) text += "]";
    const auto value = parse(text);
    if (!value) continue;
    ++accepted;
    ASSERT_GE(count(text).values, values_in(*value)) << text;
    ASSERT_GE(count(text).bytes, dump(*value).size()) << text;
    if (value->as_array() == nullptr) continue;
    ASSERT_EQ(count(text).elements, value->as_array()->size()) << text;
  }
  EXPECT_GT(accepted, 100u);
}

}  // namespace
}  // namespace mnet::json
