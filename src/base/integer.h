// Whole numbers in texts.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace mnet {

// The number that the text is as a whole: digits of `base`, after a '-' where the type has a sign.
// None if it is anything else, or does not fit.
template <std::integral Integer>
std::optional<Integer> parse_integer(std::string_view text, int base = 10) {
  Integer value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace mnet
