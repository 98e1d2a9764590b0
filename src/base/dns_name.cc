#include "base/dns_name.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/text.h"

namespace mnet {
namespace {

constexpr std::size_t kLongestLabel = 63;
constexpr std::size_t kLongestSubdomain = 253;

bool is_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool has_form_of_label(std::string_view text) {
  return !text.empty() && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
         std::ranges::all_of(text, [](char c) { return c == '-' || is_alphanumeric(c); });
}

}  // namespace

bool is_dns_label(std::string_view text) {
  return text.size() <= kLongestLabel && has_form_of_label(text);
}

bool is_dns_subdomain(std::string_view text) {
  return text.size() <= kLongestSubdomain &&
         std::ranges::all_of(split(text, '.'), has_form_of_label);
}

}  // namespace mnet
