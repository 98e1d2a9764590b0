#include "cni_node/names.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"

namespace mnet::cni_node {
namespace {

constexpr std::size_t kMaxName = 200;
constexpr std::string_view kSeparators = ", \t\r\n";
constexpr std::string_view kPin = "=sha256-";

bool is_letter_or_digit(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '_';
}

Names without(const Names& names, const Names& others) {
  Names out;
  for (const std::string& name : names) {
    if (!contains(others, name)) out.push_back(name);
  }
  return out;
}

bool is_valid_pin(std::string_view text) {
  return text.starts_with(kPin) && text.size() == kPin.size() + 64 &&
         text.find_first_not_of("0123456789abcdef", kPin.size()) == std::string_view::npos;
}

}  // namespace

bool contains(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

const std::string& pin_of(const Pins& pins, std::string_view name) {
  static const std::string kNone;
  const auto found = pins.find(name);
  return found == pins.end() ? kNone : found->second;
}

bool is_valid_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxName || !is_letter_or_digit(name.front())) return false;
  return std::ranges::all_of(name, [](char byte) {
    return is_letter_or_digit(byte) ||
           std::string_view(".+@-").find(byte) != std::string_view::npos;
  });
}

Result<Names> parse_names(std::string_view text, Pins* pins) {
  Names out;
  for (;;) {
    const std::size_t begin = text.find_first_not_of(kSeparators);
    if (begin == std::string_view::npos) return out;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find_first_of(kSeparators));
    const std::string_view name = pins == nullptr ? word : word.substr(0, word.find('='));
    const std::string_view pin = word.substr(name.size());
    if (!is_valid_name(name) || (!pin.empty() && !is_valid_pin(pin))) {
      return Error(Errc::kInvalid, cat("Invalid name: ", word));
    }
    if (!contains(out, name)) {
      out.emplace_back(name);
      if (!pin.empty()) pins->emplace(name, pin.substr(kPin.size()));
    }
    text.remove_prefix(word.size());
  }
}

Result<Lists> parse_lists(std::string_view text, Pinning pinning) {
  const auto sides = split(text, ':');
  if (sides.size() > 2) {
    return Error(Errc::kInvalid, cat("More than one ':' in a list: ", text));
  }
  Lists out;
  const bool pins = pinning == Pinning::kAllowed;
  MNET_TRY(auto&& desired, parse_names(sides[0], pins ? &out.pins : nullptr));
  out.desired = std::move(desired);
  if (sides.size() == 1) return out;
  MNET_TRY(auto&& current, parse_names(sides[1], pins ? &out.current_pins : nullptr));
  out.current = std::move(current);
  return out;
}

Difference difference(const Lists& lists) {
  Difference out{.added = {}, .removed = without(lists.current, lists.desired)};
  for (const std::string& name : lists.desired) {
    const std::string& pin = pin_of(lists.pins, name);
    const bool is_same = pin.empty() || pin == pin_of(lists.current_pins, name);
    if (!contains(lists.current, name) || !is_same) out.added.push_back(name);
  }
  return out;
}

}  // namespace mnet::cni_node
