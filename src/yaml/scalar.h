// What a plain (unquoted) YAML scalar means to kubectl.
#pragma once

#include <string>
#include <string_view>

#include "json/json.h"

namespace mnet::yaml {

// null, a boolean (YAML 1.1: yes, no, on, off, y, n too), a number, else the text itself. Numbers
// in forms that JSON has keep their digits; hexadecimal, octal and binary integers and numbers with
// underscores become decimal.
json::Value value_of_plain(const std::string& text);

// `.inf`, `-.Inf`, `.nan` and their like: numbers without a JSON form.
bool is_not_finite(std::string_view text);

}  // namespace mnet::yaml
