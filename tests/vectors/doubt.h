// Falsifies expectations: a case that still passes with a falsified one checks less than it says.
#pragma once

#include <string_view>
#include <vector>

#include "json/json.h"

namespace mnet::vectors {

// Appended to a text, it makes one that no code under test ever yields.
inline constexpr std::string_view kInNoText = "\x01 in no text";

// All variants of `expect` that have one leaf changed, one more list element, or one more member.
std::vector<json::Object> falsified(const json::Object& expect);

}  // namespace mnet::vectors
