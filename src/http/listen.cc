#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/integer.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "http/http.h"
#include "sys/fd.h"

namespace mnet::http {
namespace {

constexpr int kBacklog = 128;

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

Result<Address> parse_address(const std::string& text, std::uint16_t port) {
  Address out;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&out.bytes);
  if (::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    out.size = sizeof *v4;
    return out;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&out.bytes);
  if (::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    out.size = sizeof *v6;
    return out;
  }
  return Error(Errc::kInvalid, cat("not a numeric address: ", text));
}

Result<sys::UniqueFd> listen_on(const Address& address, const std::string& name) {
  const int family = address.bytes.ss_family;
  sys::UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return Error::from_errno(errno, cat("listen tcp ", name));
  const int on = 1;
  const int off = 0;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // [::] takes IPv4 too.
  if (family == AF_INET6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  const auto* raw = reinterpret_cast<const sockaddr*>(&address.bytes);
  if (::bind(fd.get(), raw, address.size) != 0 || ::listen(fd.get(), kBacklog) != 0) {
    const Error why = Error::from_errno(errno, cat("listen tcp ", name, ": bind"));
    if (why.os_errno() == EADDRINUSE) return Error(Errc::kConflict, why.text(), why.os_errno());
    return why;
  }
  return fd;
}

}  // namespace

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const auto bad = Error(Errc::kInvalid, cat("not [ADDRESS]:PORT: ", go_quoted(text)));
  if (colon == std::string_view::npos) return bad;
  std::string_view address = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  } else if (address.find(':') != std::string_view::npos) {
    return bad;
  }
  const auto number = parse_integer<std::uint16_t>(port);
  if (!number) return bad;
  return ListenAddress{.address = std::string(address), .port = *number};
}

Result<sys::UniqueFd> listen_tcp(const std::string& address, std::uint16_t port) {
  const std::string text = address.empty() ? "::" : address;
  MNET_TRY(auto&& parsed, parse_address(text, port));
  auto fd = listen_on(parsed, cat(address, ":", port));
  if (fd || !address.empty() || fd.error().os_errno() != EAFNOSUPPORT) return fd;
  // A kernel without IPv6.
  return listen_tcp("0.0.0.0", port);
}

Result<std::uint16_t> local_port(const sys::UniqueFd& listener) {
  Address address;
  address.size = sizeof address.bytes;
  auto* raw = reinterpret_cast<sockaddr*>(&address.bytes);
  if (::getsockname(listener.get(), raw, &address.size) != 0) {
    return Error::from_errno(errno, "getsockname");
  }
  // sin_port and sin6_port have the same offset.
  return ntohs(reinterpret_cast<const sockaddr_in*>(raw)->sin_port);
}

}  // namespace mnet::http
