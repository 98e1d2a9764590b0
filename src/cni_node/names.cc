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

}  // namespace

bool contains(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_valid_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxName || !is_letter_or_digit(name.front())) return false;
  return std::ranges::all_of(name, [](char byte) {
    return is_letter_or_digit(byte) ||
           std::string_view(".+@-").find(byte) != std::string_view::npos;
  });
}

Result<Names> parse_names(std::string_view text) {
  Names out;
  for (;;) {
    const std::size_t begin = text.find_first_not_of(kSeparators);
    if (begin == std::string_view::npos) return out;
    text.remove_prefix(begin);
    const std::string_view name = text.substr(0, text.find_first_of(kSeparators));
    if (!is_valid_name(name)) return Error(Errc::kInvalid, cat("Invalid name: ", name));
    if (!contains(out, name)) out.emplace_back(name);
    text.remove_prefix(name.size());
  }
}

Result<Lists> parse_lists(std::string_view text) {
  const auto sides = split(text, ':');
  if (sides.size() > 2) {
    return Error(Errc::kInvalid, cat("More than one ':' in a list: ", text));
  }
  Lists out;
  MNET_TRY(auto&& desired, parse_names(sides[0]));
  out.desired = std::move(desired);
  if (sides.size() == 1) return out;
  MNET_TRY(auto&& current, parse_names(sides[1]));
  out.current = std::move(current);
  return out;
}

Difference difference(const Lists& lists) {
  return {.added = without(lists.desired, lists.current),
          .removed = without(lists.current, lists.desired)};
}

}  // namespace mnet::cni_node
