#include "http/url.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/integer.h"
#include "base/result.h"
#include "base/text.h"

namespace mnet::http {
namespace {

Error bad(std::string_view text, std::string_view why) {
  // Only the head: a URL may hold a password.
  return Error(Errc::kInvalid,
               cat("invalid URL (", text.substr(0, text.find("://")), "://...): ", why));
}

std::optional<std::uint16_t> usual_port(std::string_view scheme) {
  if (scheme == "http") return 80;
  if (scheme == "https") return 443;
  if (scheme == "socks5" || scheme == "socks5h") return 1080;
  return std::nullopt;
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  const auto port = parse_integer<std::uint16_t>(text);
  return port == 0 ? std::nullopt : port;
}

int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

bool is_host_character(char character) {
  return character > ' ' && character != 0x7f &&
         std::string_view("/?#@[]\\\"<>").find(character) == std::string_view::npos;
}

bool is_host(std::string_view text) {
  return !text.empty() && text.size() <= 255 && std::ranges::all_of(text, is_host_character);
}

// Takes `host`, `host:port`, `[v6]` and `[v6]:port` apart; false if it is none of them.
bool take_authority(std::string_view text, Url& url) {
  std::string_view host = text, port;
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return false;
    host = text.substr(1, close - 1);
    if (host.find(':') == std::string_view::npos) return false;
    port = text.substr(close + 1);
    if (!port.empty() && !port.starts_with(':')) return false;
  } else if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon);
    if (port.find(':', 1) != std::string_view::npos) return false;  // IPv6 without brackets
  }
  auto plain = percent_decoded(host);  // the zone of an address is written `%25eth0`
  if (!plain || !is_host(*plain)) return false;
  url.host = *std::move(plain);
  if (port.size() <= 1) return true;
  const auto number = parse_port(port.substr(1));
  if (number) url.port = *number;
  return number.has_value();
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

std::string host_and_port(std::string_view host, std::uint16_t port) {
  if (host.find(':') == std::string_view::npos) return cat(host, ":", port);
  return cat("[", host.substr(0, host.find('%')), "]:", port);
}

std::string Url::authority() const { return host_and_port(host, port); }

Result<Url> parse_url(std::string_view text) {
  const auto mark = text.find("://");
  if (mark == std::string_view::npos || mark == 0) return bad(text, "no scheme");
  Url url;
  url.scheme = to_lower(text.substr(0, mark));
  const auto port = usual_port(url.scheme);
  if (!port) return bad(text, "unknown scheme");
  url.port = *port;

  std::string_view rest = text.substr(mark + 3);
  if (rest.find_first_of("?#") != std::string_view::npos) return bad(text, "query or fragment");
  const auto slash = rest.find('/');
  std::string_view authority = rest.substr(0, slash);
  if (slash != std::string_view::npos) url.path = rest.substr(slash);
  while (url.path.ends_with('/')) url.path.pop_back();
  const bool plain = std::ranges::all_of(url.path, [](char c) { return c > ' ' && c < 0x7f; });
  if (!plain) return bad(text, "path with blanks or non-ASCII characters");

  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    auto user = percent_decoded(authority.substr(0, at));
    if (!user) return bad(text, "user and password");
    url.user_info = *std::move(user);
    authority.remove_prefix(at + 1);
  }
  if (!take_authority(authority, url)) return bad(text, "host and port");
  return url;
}

}  // namespace mnet::http
