#include "base/duration.h"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"

namespace mnet {
namespace {

using Nanoseconds = std::chrono::nanoseconds;

// Longer names first: `m` is the beginning of `ms`.
constexpr std::array<std::pair<std::string_view, double>, 8> kUnits{{{"ns", 1},
                                                                     {"us", 1e3},
                                                                     {"\xc2\xb5s", 1e3},
                                                                     {"\xce\xbcs", 1e3},
                                                                     {"ms", 1e6},
                                                                     {"s", 1e9},
                                                                     {"m", 60e9},
                                                                     {"h", 3600e9}}};

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

// Takes `12.5` off the front; none if there is no digit.
std::optional<double> take_number(std::string_view& text) {
  double value = 0, scale = 1;
  bool has_digit = false, has_point = false;
  for (; !text.empty(); text.remove_prefix(1)) {
    const char byte = text.front();
    if (byte == '.' && !has_point) {
      has_point = true;
      continue;
    }
    if (!is_digit(byte)) break;
    has_digit = true;
    value = value * 10 + (byte - '0');
    if (has_point) scale *= 10;
  }
  if (!has_digit) return std::nullopt;
  return value / scale;
}

std::optional<double> take_unit(std::string_view& text) {
  for (const auto& [name, nanoseconds] : kUnits) {
    if (!text.starts_with(name)) continue;
    text.remove_prefix(name.size());
    return nanoseconds;
  }
  return std::nullopt;
}

}  // namespace

Result<Nanoseconds> parse_go_duration(std::string_view text) {
  const Error invalid(Errc::kInvalid, cat("time: invalid duration ", go_quoted(text)));
  std::string_view rest = text;
  const bool is_negative = rest.starts_with('-');
  if (is_negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest == "0") return Nanoseconds(0);
  if (rest.empty()) return invalid;
  double sum = 0;
  while (!rest.empty()) {
    const auto number = take_number(rest);
    if (!number) return invalid;
    const auto unit = take_unit(rest);
    if (!unit) return invalid;
    sum += *number * *unit;
  }
  // What does not fit into 64 bits, 292 years, is not a duration in Go either.
  if (!std::isfinite(sum) || sum >= 9.2e18) return invalid;
  const auto count = static_cast<std::int64_t>(std::llround(sum));
  return Nanoseconds(is_negative ? -count : count);
}

}  // namespace mnet
