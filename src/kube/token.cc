#include "kube/token.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "json/json.h"

namespace mnet::kube {
namespace {

using Time = std::chrono::system_clock::time_point;

constexpr std::size_t kMaxToken = 64u << 10;
// In the year 2223, where the clock can still count.
constexpr double kLastSecond = 8e9;

// The middle one of three parts; empty if there are not three.
std::string_view claims_of(std::string_view token) {
  const std::size_t first = token.find('.');
  if (first == std::string_view::npos) return {};
  const std::size_t second = token.find('.', first + 1);
  if (second == std::string_view::npos) return {};
  if (token.find('.', second + 1) != std::string_view::npos) return {};
  return token.substr(first + 1, second - first - 1);
}

// The alphabet for URLs, without padding (RFC 7515, 2).
std::optional<std::string> from_base64url(std::string_view text) {
  std::string standard;
  standard.reserve(text.size() + 3);
  for (const char c : text) {
    if (c == '+' || c == '/' || c == '=') return std::nullopt;
    standard += c == '-' ? '+' : c == '_' ? '/' : c;
  }
  standard.append((4 - standard.size() % 4) % 4, '=');
  std::string bytes;
  if (!from_base64(standard, bytes)) return std::nullopt;
  return bytes;
}

std::optional<Time> time_at(const json::Object& claims, std::string_view key) {
  const json::Value* value = claims.find(key);
  const json::Number* number = value == nullptr ? nullptr : value->as_number();
  if (number == nullptr) return std::nullopt;
  const double seconds = number->as_double();
  if (!(seconds > 0 && seconds < kLastSecond)) return std::nullopt;
  return Time(std::chrono::seconds(static_cast<std::int64_t>(seconds)));
}

}  // namespace

std::optional<TokenLife> life_of_token(std::string_view token) {
  if (token.size() > kMaxToken) return std::nullopt;
  const auto text = from_base64url(claims_of(token));
  if (!text) return std::nullopt;
  const auto claims = json::parse_object(*text);
  if (!claims) return std::nullopt;
  const auto end = time_at(*claims, "exp");
  if (!end) return std::nullopt;
  auto begin = time_at(*claims, "iat");
  if (!begin) begin = time_at(*claims, "nbf");
  return TokenLife{.begin = begin, .end = *end};
}

}  // namespace mnet::kube
