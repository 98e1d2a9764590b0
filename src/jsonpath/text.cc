// Numbers went through Go's int64 and float64 before kubectl shows them: `1.50` is 1.5 there, and
// `1e3` is 1000.
#include "base/text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>

#include "json/json.h"
#include "jsonpath/jsonpath.h"

namespace mnet::jsonpath {
namespace {

// Shortest digits that are the same number, as `d.ddde+xx`.
std::string scientific(double value) {
  std::array<char, 40> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                     std::chars_format::scientific);
  return {digits.data(), written.ptr};
}

std::string plain(double value) {
  std::array<char, 400> digits{};
  const auto written =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed);
  return {digits.data(), written.ptr};
}

// `1e+21`. Below `smallest` and from 1e21 on there is an exponent.
std::string float_text(double value, double smallest) {
  const double size = std::fabs(value);
  const bool has_exponent = size != 0 && (size < smallest || size >= 1e21);
  return has_exponent ? scientific(value) : plain(value);
}

// In JSON a small exponent has one digit: `1e-7`.
std::string json_float_text(double value) {
  std::string out = float_text(value, 1e-6);
  const std::size_t zero = out.find("e-0");
  if (zero != std::string::npos) out.erase(zero + 2, 1);
  return out;
}

std::string number_text(const json::Number& number, bool is_json) {
  if (const auto integer = number.as_int64()) return cat(*integer);
  const double value = number.as_double();
  return is_json ? json_float_text(value) : float_text(value, 1e-4);
}

json::Value as_go_writes(const json::Value& value) {
  if (const json::Number* number = value.as_number()) {
    return json::Number::of_text(number_text(*number, true));
  }
  if (const json::Array* list = value.as_array()) {
    json::Array out;
    out.reserve(list->size());
    for (const json::Value& element : *list) out.push_back(as_go_writes(element));
    return out;
  }
  if (const json::Object* object = value.as_object()) {
    json::Object out;
    for (const auto& [key, member] : *object) out.append(key, as_go_writes(member));
    return out;
  }
  return value;
}

}  // namespace

std::string jsonpath_text(const json::Value& value) {
  if (const std::string* text = value.as_string()) return *text;
  if (const json::Number* number = value.as_number()) return number_text(*number, false);
  if (const bool* truth = value.as_bool()) return *truth ? "true" : "false";
  if (value.is_null()) return "null";
  return json::dump(as_go_writes(value), json::kSorted);
}

}  // namespace mnet::jsonpath
