// What a plain (unquoted) YAML scalar means to kubectl.
#pragma once

#include <string>

#include "json/json.h"

namespace mnet::yaml {

// null, a boolean (YAML 1.1: yes, no, on, off, y, n too), a number, else the text itself. Numbers
// in forms that JSON has keep their digits; hexadecimal, octal and binary integers and numbers with
// underscores become decimal.
json::Value value_of_plain(const std::string& text);

}  // namespace mnet::yaml
