#include "runner.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "compare.h"
#include "doubt.h"
#include "fixture.h"
#include "group.h"
#include "json/json.h"
#include "sys/test_dir.h"

namespace mnet::vectors {
namespace {

struct Case {
  std::string id;
  json::Object input;
  std::optional<json::Object> expect;
  std::optional<std::string> error;  // expect_error_contains
};

Result<Case> case_of(const json::Value& value) {
  const json::Object* object = value.as_object();
  if (object == nullptr) return Error(Errc::kBug, "a case must be an object");
  MNET_TRY(auto&& id, text_of(*object, "id"));
  auto input = object_of(*object, "input");
  if (!input) return std::move(input).error().wrap(id);
  Case out{.id = std::move(id), .input = *std::move(input), .expect = {}, .error = {}};
  if (object->find("expect") != nullptr) {
    auto expect = object_of(*object, "expect");
    if (!expect) return std::move(expect).error().wrap(out.id);
    out.expect = *std::move(expect);
  }
  if (object->find("expect_error_contains") != nullptr) {
    auto text = text_of(*object, "expect_error_contains");
    if (!text) return std::move(text).error().wrap(out.id);
    out.error = *std::move(text);
  }
  if (out.expect.has_value() == out.error.has_value()) {
    return Error(Errc::kBug, cat(out.id, ": neither or both of expect, expect_error_contains"));
  }
  return out;
}

// The name of the case's operation; empty if it names none.
std::string operation_of(const Group& group, const json::Object& input) {
  const json::Value* name = input.find(group.selector);
  return name == nullptr || name->as_string() == nullptr ? std::string() : *name->as_string();
}

void put_in_place(Case& test, const std::string& directory) {
  test.input = *with_places(test.input, directory).as_object();
  if (test.expect) test.expect = *with_places(*test.expect, directory).as_object();
  if (test.error) test.error = *with_places(*test.error, directory).as_string();
}

class CaseRunner {
 public:
  CaseRunner(const Group& group, Mode mode) : group_(group), mode_(mode) {}

  // What is wrong; none if the case passes.
  std::optional<std::string> run(Case test, const Operation& operation) const {
    const sys::TestDir directory;
    put_in_place(test, directory.path());
    if (auto ready = lay_out(test.input, directory.path()); !ready) return ready.error().text();
    const auto outcome = operation(test.input);
    if (auto wrong = judge(test, outcome)) return wrong;
    return mode_ == Mode::kVerify ? std::nullopt : doubt(test, outcome);
  }

 private:
  json::Object normalised(const json::Object& object) const {
    if (!group_.normalise) return object;
    json::Value value = group_.normalise(object);
    return std::move(*value.as_object());
  }

  std::optional<std::string> judge(const Case& test, const Result<json::Object>& outcome) const {
    // Not an answer of the code under test: the case or the operation is broken.
    if (!outcome && outcome.error().code() == Errc::kBug) return outcome.error().text();
    if (test.expect) {
      if (!outcome) return cat("failed: ", outcome.error().text());
      return differs_from(normalised(*test.expect), normalised(*outcome));
    }
    const std::string wanted = cat("expected an error with ", go_quoted(*test.error), ", got ");
    if (outcome) return cat(wanted, json::dump(*outcome));
    if (outcome.error().text().find(*test.error) != std::string::npos) return std::nullopt;
    return cat(wanted, go_quoted(outcome.error().text()));
  }

  // The first falsified expectation that passes all the same.
  std::optional<std::string> doubt(const Case& test, const Result<json::Object>& outcome) const {
    Case other = test;
    if (test.error) {
      other.error = cat(*test.error, kInNoText);
      if (!judge(other, outcome)) return "passes with another error text";
      other.error.reset();
      other.expect = json::Object{{"result", json::Object()}};
      if (!judge(other, outcome)) return "passes without an error";
      return std::nullopt;
    }
    for (json::Object& expect : falsified(*test.expect)) {
      other.expect = std::move(expect);
      if (!judge(other, outcome)) return cat("passes with ", json::dump(*other.expect));
    }
    other.expect.reset();
    other.error = "";
    if (!judge(other, outcome)) return "passes as an error";
    return std::nullopt;
  }

  const Group& group_;
  Mode mode_;
};

}  // namespace

void Tally::add(const Tally& other) {
  passed += other.passed;
  failed += other.failed;
  skipped += other.skipped;
  failures.insert(failures.end(), other.failures.begin(), other.failures.end());
}

std::string Tally::line() const {
  return cat(passed, " passed, ", failed, " failed, ", skipped, " skipped");
}

Tally run_cases(const std::string& name, const json::Value& cases, const Group* group, Mode mode) {
  Tally tally;
  const auto fail = [&](std::string_view what) {
    ++tally.failed;
    tally.failures.push_back(cat(name, "/", what));
  };
  if (cases.as_array() == nullptr) {
    fail(": the file must hold a list");
    return tally;
  }
  for (const json::Value& value : *cases.as_array()) {
    auto test = case_of(value);
    if (!test) {
      fail(test.error().text());
      continue;
    }
    if (group == nullptr) {
      fail(cat(test->id, ": unknown group"));
      continue;
    }
    const std::string operation = operation_of(*group, test->input);
    if (group->operations.empty() || group->unanswered.contains(operation)) {
      ++tally.skipped;
      continue;
    }
    const auto found = group->operations.find(operation);
    if (found == group->operations.end()) {
      fail(cat(test->id, ": no operation ", go_quoted(operation)));
      continue;
    }
    const std::string id = test->id;
    if (auto wrong = CaseRunner(*group, mode).run(*std::move(test), found->second)) {
      fail(cat(id, ": ", *wrong));
    } else {
      ++tally.passed;
    }
  }
  return tally;
}

}  // namespace mnet::vectors
