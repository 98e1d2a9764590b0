#include "compare.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "json/json.h"

namespace mnet::vectors {
namespace {

std::string difference_of(std::string_view expect, std::string_view outcome) {
  return differs_from(json::parse_object(expect).value(), json::parse_object(outcome).value())
      .value_or("none");
}

TEST(Comparison, IsByStructureAndNumbersByValue) {
  EXPECT_EQ(difference_of(R"({"a":{"x":1,"y":[1,2]}})", R"({"a":{"y":[1.0,20e-1],"x":1}})"),
            "none");
  EXPECT_EQ(difference_of(R"({"a":[1,2]})", R"({"a":[2,1]})"), "a[0]: expected 1, got 2");
  EXPECT_EQ(difference_of(R"({"a":9007199254740993})", R"({"a":9007199254740992})"),
            "a: expected 9007199254740993, got 9007199254740992");
  EXPECT_EQ(difference_of(R"({"a":[1]})", R"({"a":[1,2]})"), "a: expected 1 elements, got 2");
}

TEST(Comparison, TellsAbsentFromNullAndEmpty) {
  EXPECT_EQ(difference_of(R"({"a":{"x":null}})", R"({"a":{}})"), "a.x: expected null, got nothing");
  EXPECT_EQ(difference_of(R"({"a":{}})", R"({"a":{"x":null}})"), "a.x: expected nothing, got null");
  EXPECT_EQ(difference_of(R"({"a":""})", R"({"a":null})"), "a: expected \"\", got null");
  EXPECT_EQ(difference_of(R"({"a":null})", "{}"), "a: expected null, got nothing");
}

TEST(Comparison, LooksOnlyAtListedMembersOfFieldsAndDelegate) {
  EXPECT_EQ(difference_of(R"({"fields":{"x":1}})", R"({"fields":{"x":1,"y":2}})"), "none");
  EXPECT_EQ(difference_of(R"({"delegate":{"x":{}}})", R"({"delegate":{"x":{"y":2}}})"),
            "delegate.x.y: expected nothing, got 2");
  EXPECT_EQ(difference_of(R"({"fields":{"x":1}})", R"({"fields":{"y":2}})"),
            "fields.x: expected 1, got nothing");
  EXPECT_EQ(difference_of(R"({"fields":null})", R"({"fields":{}})"),
            "fields: expected null, got {}");
}

TEST(Comparison, LooksOnlyAtTheMembersThatTheCaseNames) {
  EXPECT_EQ(difference_of(R"({"config":{}})", R"({"config":{},"config_text":"{}"})"), "none");
  EXPECT_EQ(difference_of(R"({"config_text":"{ }"})", R"({"config":{},"config_text":"{}"})"),
            "config_text: expected \"{ }\", got \"{}\"");
}

TEST(Comparison, FindsFragmentsOfTexts) {
  EXPECT_EQ(difference_of(R"({"error":{"code":6,"msg_contains":"bad"}})",
                          R"({"error":{"code":6,"msg":"it is bad"}})"),
            "none");
  EXPECT_EQ(difference_of(R"({"error":{"code":6,"msg_contains":"bad"}})",
                          R"({"error":{"code":6,"msg":"good"}})"),
            "error.msg: expected text with \"bad\", got \"good\"");
  EXPECT_EQ(
      difference_of(R"({"error":{"msg_contains":"bad"}})", R"({"error":{"code":6,"msg":"bad"}})"),
      "error.code: expected nothing, got 6");
  EXPECT_EQ(difference_of(R"({"message_contains":""})", "{}"),
            "message: expected text with \"\", got nothing");
}

TEST(Comparison, RefusesACaseThatExpectsNothing) {
  EXPECT_NE(difference_of("{}", R"({"a":1})"), "none");
}

}  // namespace
}  // namespace mnet::vectors
