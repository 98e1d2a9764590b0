// The parts of an absolute URL as far as a connection needs them: no query, no fragment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mnet::http {

struct Url {
  std::string scheme;     // in lower case
  std::string user_info;  // of `user:password@`, decoded; empty: none
  std::string host;       // without brackets; an IPv6 literal may have a zone
  std::uint16_t port = 0;
  std::string path;  // without a trailing slash; empty for the root

  // `host:port`, IPv6 literals in brackets and without their zone: the value of a Host header.
  std::string authority() const;
};

// `scheme://[user[:password]@]host[:port][/path]`. The port defaults to that of http (80), https
// (443) or socks5 (1080).
Result<Url> parse_url(std::string_view text);

// None if a `%` is not followed by two hexadecimal digits.
std::optional<std::string> percent_decoded(std::string_view text);

// `[::1]:443` and `10.0.0.1:443`.
std::string host_and_port(std::string_view host, std::uint16_t port);

}  // namespace mnet::http
