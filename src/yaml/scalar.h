// What a plain (unquoted) YAML scalar means to kubectl.
#pragma once

#include <string>
#include <string_view>

#include "json/json.h"

namespace mnet::yaml {

// null, a boolean (YAML 1.1: also yes, no, on, off, y, n), a number, or else the text itself.
// Numbers in a form that JSON has keep their digits; hexadecimal, octal and binary integers and
// numbers with underscores become decimal.
json::Value value_of_plain(const std::string& text);

// Whether the text is a number without a JSON form: `.inf`, `-.Inf`, `.nan` and the like.
bool is_not_finite(std::string_view text);

}  // namespace mnet::yaml
