#include "yaml/scalar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/integer.h"
#include "base/text.h"
#include "json/json.h"

namespace mnet::yaml {
namespace {

constexpr std::array<std::string_view, 4> kNull = {"~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 11> kTrue = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                                    "True", "TRUE", "on",  "On",  "ON"};
constexpr std::array<std::string_view, 11> kFalse = {"n",     "N",     "no",  "No",  "NO", "false",
                                                     "False", "FALSE", "off", "Off", "OFF"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view text) {
  return std::ranges::find(words, text) != words.end();
}

std::optional<json::Value> number_in_base(std::string_view digits, int base, bool negative) {
  const auto value = parse_integer<std::uint64_t>(digits, base);
  if (!value) return std::nullopt;
  return json::Value(json::Number::of_text(cat(negative && *value != 0 ? "-" : "", *value)));
}

// 0x1F, 0o17, 0b11, and 017 as YAML 1.1 has it.
std::optional<json::Value> prefixed_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.size() < 2 || text[0] != '0') return std::nullopt;
  const char kind = text[1];
  if (kind == 'x' || kind == 'X') return number_in_base(text.substr(2), 16, negative);
  if (kind == 'b' || kind == 'B') return number_in_base(text.substr(2), 2, negative);
  if (kind == 'o' || kind == 'O') return number_in_base(text.substr(2), 8, negative);
  return number_in_base(text.substr(1), 8, negative);
}

// Converts a decimal number from YAML's form to JSON's: no plus sign, digits on both sides of the
// point.
std::optional<json::Value> decimal(std::string_view text) {
  std::string out;
  if (text.starts_with('-')) out = "-";
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const auto take_digits = [&] {
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    const std::string_view digits = text.substr(0, count);
    text.remove_prefix(count);
    return digits;
  };
  std::string_view whole = take_digits();
  std::string_view fraction;
  const bool has_point = text.starts_with('.');
  if (has_point) {
    text.remove_prefix(1);
    fraction = take_digits();
  }
  if (whole.empty() && fraction.empty()) return std::nullopt;
  while (whole.size() > 1 && whole[0] == '0') whole.remove_prefix(1);
  out += whole.empty() ? "0" : whole;
  if (!fraction.empty()) out += cat(".", fraction);
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    std::string sign;
    if (text.starts_with('-') || text.starts_with('+')) {
      sign = text[0];
      text.remove_prefix(1);
    }
    const std::string_view exponent = take_digits();
    if (exponent.empty()) return std::nullopt;
    out += cat("e", sign, exponent);
  }
  if (!text.empty()) return std::nullopt;
  auto number = json::Number::of_text(std::move(out));
  if (!std::isfinite(number.as_double())) return std::nullopt;  // 1e400 is a string
  return json::Value(std::move(number));
}

}  // namespace

bool is_not_finite(std::string_view text) {
  if (text == ".nan" || text == ".NaN" || text == ".NAN") return true;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return text == ".inf" || text == ".Inf" || text == ".INF";
}

json::Value value_of_plain(const std::string& text) {
  if (text.empty() || is_one_of(kNull, text)) return nullptr;
  if (is_one_of(kTrue, text)) return true;
  if (is_one_of(kFalse, text)) return false;
  const char first = text[0];
  const bool may_be_number =
      (first >= '0' && first <= '9') || first == '-' || first == '+' || first == '.';
  if (!may_be_number) return text;
  std::string digits = text;
  std::erase(digits, '_');
  if (auto integer = prefixed_integer(digits)) return *std::move(integer);
  if (auto number = decimal(digits)) return *std::move(number);
  return text;
}

}  // namespace mnet::yaml
