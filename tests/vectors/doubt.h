// Falsified expectations: a case that still passes with one of them checks less than it says.
#pragma once

#include <string_view>
#include <vector>

#include "json/json.h"

namespace mnet::vectors {

// Behind a text it makes another that no code under test ever gives.
inline constexpr std::string_view kInNoText = "\x01 in no text";

// Every object that differs from `expect` in one leaf, one list element more, or one member more.
std::vector<json::Object> falsified(const json::Object& expect);

}  // namespace mnet::vectors
