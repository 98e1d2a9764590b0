#include "http/target.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"

namespace mnet::http {
namespace {

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

Result<std::string> percent_decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const auto high = i + 1 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
    const auto low = i + 2 < text.size() ? hex_digit(text[i + 2]) : std::nullopt;
    if (!high || !low) return Error(Errc::kInvalid, "malformed HTTP: bad percent-encoding");
    out += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  return out;
}

bool has_http_scheme(std::string_view target) {
  const std::size_t colon = target.find("://");
  if (colon == std::string_view::npos) return false;
  const std::string_view scheme = target.substr(0, colon);
  return equal_ignoring_case(scheme, "http") || equal_ignoring_case(scheme, "https");
}

}  // namespace

Result<std::string> path_of_target(std::string_view target) {
  if (has_http_scheme(target)) {
    target.remove_prefix(target.find("://") + 3);
    const std::size_t end = target.find_first_of("/?");
    target = end == std::string_view::npos ? std::string_view{} : target.substr(end);
    if (!target.starts_with('/')) return std::string("/");
  }
  if (target == "*") return std::string(target);
  if (!target.starts_with('/')) return Error(Errc::kInvalid, "malformed HTTP: bad target");
  return percent_decoded(target.substr(0, target.find('?')));
}

}  // namespace mnet::http
