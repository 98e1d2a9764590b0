#include "runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "group.h"
#include "json/json.h"
#include "sys/file.h"

namespace mnet::vectors {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Result<json::Object> echo(const json::Object& input) {
  if (input.find("fail") != nullptr) return Error(Errc::kInvalid, "it failed");
  return json::Object{{"out", *input.find("in")}};
}

Result<json::Object> read(const json::Object& input) {
  MNET_TRY(auto&& dir, text_of(input, "dir"));
  MNET_TRY(auto&& text, sys::read_file(cat(dir, "/sub/a")));
  return json::Object{{"text", text}, {"dir", dir}};
}

Group group() {
  return {.name = "g", .operations = {{"echo", echo}, {"read", read}}, .unanswered = {"later"}};
}

Tally tally(std::string_view cases, Mode mode = Mode::kVerify) {
  const Group answered = group();
  return run_cases("g", json::parse(cases).value(), &answered, mode);
}

TEST(VectorRunner, CountsAndNamesWhatFails) {
  const Tally sum = tally(R"([
    {"id":"good","input":{"op":"echo","in":1},"expect":{"out":1}},
    {"id":"bad","input":{"op":"echo","in":1},"expect":{"out":2}},
    {"id":"error","input":{"op":"echo","fail":1},"expect_error_contains":"failed"},
    {"id":"any","input":{"op":"echo","fail":1},"expect_error_contains":""},
    {"id":"other","input":{"op":"echo","fail":1},"expect_error_contains":"x"},
    {"id":"missed","input":{"op":"echo","in":1},"expect_error_contains":""},
    {"id":"unexpected","input":{"op":"echo","fail":1},"expect":{"out":1}},
    {"id":"skip","input":{"op":"later"},"expect":{"out":1}}])");

  EXPECT_EQ(sum.line(), "3 passed, 4 failed, 1 skipped");
  EXPECT_THAT(sum.failures, ElementsAre("g/bad: out: expected 2, got 1",
                                        "g/other: expected an error with \"x\", got \"it failed\"",
                                        "g/missed: expected an error with \"\", got {\"out\":1}",
                                        "g/unexpected: failed: it failed"));
}

TEST(VectorRunner, FailsUnknownOperationsUnknownGroupsAndBrokenCases) {
  EXPECT_EQ(tally(R"([{"id":"a","input":{"op":"new"},"expect":{"x":1}}])").failed, 1u);
  EXPECT_EQ(tally(R"([{"id":"a","input":{"op":"echo","in":1}}])").failed, 1u);
  EXPECT_EQ(tally(R"([{"id":"a","expect":{"x":1}}])").failed, 1u);
  EXPECT_EQ(tally(R"([5])").failed, 1u);
  EXPECT_EQ(tally(R"([{"id":"a","input":{"op":"read"},"expect_error_contains":""}])").failed, 1u);
  EXPECT_EQ(tally(R"({})").failed, 1u);
  const auto cases = json::parse(R"([{"id":"a","input":{},"expect":{"x":1}}])").value();
  EXPECT_EQ(run_cases("new", cases, nullptr, Mode::kVerify).failed, 1u);
}

TEST(VectorRunner, SkipsAGroupWithoutOperations) {
  Group none;
  none.name = "none";
  const auto cases = json::parse(R"([{"id":"a","input":{},"expect":{"x":1}}])").value();

  EXPECT_EQ(run_cases("none", cases, &none, Mode::kVerify).line(), "0 passed, 0 failed, 1 skipped");
}

TEST(VectorRunner, LaysOutFilesInADirectoryOfTheCasesOwn) {
  EXPECT_THAT(
      tally(
          R"([{"id":"a","input":{"op":"read","dir":"${DIR}","files":{"sub/a":"in ${DIR}"}},"expect":{"text":"in ${DIR}","dir":"${DIR}"}},
              {"id":"b","input":{"op":"read","dir":"${DIR}","files":null},"expect_error_contains":"open ${DIR}/sub/a"},
              {"id":"c","input":{"op":"read","dir":"${DIR}","files":{},"empty_dirs":["sub/a"]},"expect_error_contains":"is a directory"}])")
          .failures,
      IsEmpty());
}

TEST(VectorRunner, DoubtsEveryExpectation) {
  EXPECT_EQ(tally(R"([{"id":"a","input":{"op":"echo","in":{"l":[1,{"t":"x"}],"b":true,"n":null}},
                       "expect":{"out":{"l":[1,{"t":"x"}],"b":true,"n":null}}},
                      {"id":"b","input":{"op":"echo","fail":1},"expect_error_contains":""}])",
                  Mode::kDoubt)
                .line(),
            "2 passed, 0 failed, 0 skipped");
}

TEST(VectorRunner, FindsAnExpectationThatPassesWhateverTheCodeDoes) {
  Group blind = group();
  blind.normalise = [](json::Value) { return json::Value(json::Object{{"out", 1}}); };
  const auto cases =
      json::parse(R"([{"id":"a","input":{"op":"echo","in":1},"expect":{"out":2}}])").value();

  EXPECT_EQ(run_cases("g", cases, &blind, Mode::kVerify).line(), "1 passed, 0 failed, 0 skipped");
  EXPECT_EQ(run_cases("g", cases, &blind, Mode::kDoubt).line(), "0 passed, 1 failed, 0 skipped");
}

}  // namespace
}  // namespace mnet::vectors
