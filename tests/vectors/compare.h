// Compares the outcome of an operation with what a case expects, by the rules of
// tests/data/vectors/README.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/json.h"

namespace mnet::vectors {

// What is wrong with `outcome`; none if it is as expected.
//
// `expect` names the members to compare. Each is compared by structure and as a whole, numbers by
// value, texts byte for byte, with two exceptions: in members called `fields` and `delegate` only
// what is listed counts, and a member `x_contains` requires that the text `x` contains it.
std::optional<std::string> differs_from(const json::Object& expect, const json::Object& outcome);

// Where and how two values differ; none if they are equal by the rules above.
std::optional<std::string> difference(const json::Value& expected, const json::Value& actual,
                                      std::string_view path);

}  // namespace mnet::vectors
