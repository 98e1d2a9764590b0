// What a jsonpath template consists of, between its parser and its evaluation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "json/json.h"

namespace mnet::jsonpath {

struct Step;
using Steps = std::vector<Step>;

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
  std::vector<Steps> parts;  // [a,b]
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
  Steps left, right;  // [?(left == right)]
  Comparison comparison = Comparison::kPresent;
};

struct Step {
  std::variant<ConstantStep, MemberStep, EveryStep, DescentStep, SliceStep, UnionStep, FilterStep>
      what;
};

// Text between actions is an action of one constant.
struct Part {
  Steps steps = {};
  bool is_range = false;
  std::vector<Part> body = {};  // of a range
};

struct Template {
  std::vector<Part> parts;
};

}  // namespace mnet::jsonpath
