// Whether what an operation gave is what a case expects: the rules of tests/data/vectors/README.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/json.h"

namespace mnet::vectors {

// What is wrong with `outcome`, none if nothing is.
//
// `expect` names the members to look at. Each is compared by structure and as a whole, numbers by
// value, texts byte for byte. Two exceptions: of members called `fields` and `delegate` only what
// is listed counts, and a member `x_contains` asks that the member `x` is a text with that in it.
std::optional<std::string> differs_from(const json::Object& expect, const json::Object& outcome);

// Where and how two values differ; none if they are equal by the rules above.
std::optional<std::string> difference(const json::Value& expected, const json::Value& actual,
                                      std::string_view path);

}  // namespace mnet::vectors
