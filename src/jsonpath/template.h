// What a jsonpath template consists of, between its parser and its evaluation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "json/json.h"

namespace mnet::jsonpath {

struct JsonPathStep;
using JsonPathSteps = std::vector<JsonPathStep>;

struct ConstantStep {
  json::Value value;  // "text", 3, true
};
struct MemberStep {
  std::string name;  // .name
};
struct EveryStep {};    // .*
struct DescentStep {};  // ..
struct SliceStep {      // [from:to:step]
  std::optional<std::int64_t> from, to, step;
  bool is_index = false;  // [from]: `to` is the next
};
struct UnionStep {
  std::vector<JsonPathSteps> parts;  // [a,b]
};
enum class Comparison : std::uint8_t {
  kPresent,
  kEqual,
  kDifferent,
  kLess,
  kAtMost,
  kGreater,
  kAtLeast
};
struct FilterStep {
  JsonPathSteps left, right;  // [?(left == right)]
  Comparison comparison = Comparison::kPresent;
};

struct JsonPathStep {
  std::variant<ConstantStep, MemberStep, EveryStep, DescentStep, SliceStep, UnionStep, FilterStep>
      what;
};

// Text between actions is an action of one constant.
struct JsonPathPart {
  JsonPathSteps steps = {};
  bool is_range = false;
  std::vector<JsonPathPart> body = {};  // of a range
};

struct JsonPathTemplate {
  std::vector<JsonPathPart> parts;
};

}  // namespace mnet::jsonpath
