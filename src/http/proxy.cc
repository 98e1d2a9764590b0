#include "http/proxy.h"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "http/byte_stream.h"
#include "http/message.h"
#include "http/tls.h"
#include "http/url.h"
#include "sys/environment.h"

namespace mnet::http {
namespace {

namespace ip = aio::asio::ip;
using boost::system::error_code;

constexpr std::size_t kMaxHead = 64u << 10;

std::string either_case(const std::vector<std::string>& environment, std::string_view name) {
  std::string upper = sys::variable(environment, name);
  return upper.empty() ? sys::variable(environment, to_lower(name)) : upper;
}

std::optional<ip::address> address_of(std::string_view text) {
  error_code failure;
  auto address = ip::make_address(std::string(text), failure);
  if (failure) return std::nullopt;
  return address;
}

bool is_in_network(const ip::address& address, std::string_view network) {
  error_code failure;
  if (address.is_v4()) {
    const auto block = ip::make_network_v4(std::string(network), failure);
    return !failure &&
           (address.to_v4().to_uint() & block.netmask().to_uint()) == block.network().to_uint();
  }
  const auto block = ip::make_network_v6(std::string(network), failure);
  const ip::network_v6 own(address.to_v6(), block.prefix_length());
  return !failure && own.network() == block.network();
}

// `domain` matches that host and all below it, `.domain` and `*.domain` only those below. Any text
// is allowed: `.` alone matches, as in Go, names that end in a dot.
bool is_of_domain(const std::string& host, std::string_view domain) {
  if (domain.starts_with("*.")) domain.remove_prefix(1);
  const std::string wanted = to_lower(domain);
  if (wanted.starts_with('.')) return host.ends_with(wanted);
  return host == wanted || host.ends_with("." + wanted);
}

// One entry of NO_PROXY: `*`, an address, a network, `domain`, `.domain` or `*.domain`; all but
// networks may have a port. A port alone matches nothing.
bool excludes(std::string_view entry, const Url& target) {
  entry = trim(entry);
  if (entry == "*") return true;
  const auto address = address_of(target.host.substr(0, target.host.find('%')));
  if (entry.find('/') != std::string_view::npos) return address && is_in_network(*address, entry);
  const std::string port = cat(":", target.port);
  if (entry.ends_with(port) && !address_of(entry)) entry.remove_suffix(port.size());
  if (entry.starts_with('[') && entry.ends_with(']')) entry = entry.substr(1, entry.size() - 2);
  if (entry.empty()) return false;
  if (const auto listed = address_of(entry)) return address && *address == *listed;
  return !address && is_of_domain(to_lower(target.host), entry);
}

bool is_local(const Url& target) {
  const auto address = address_of(target.host);
  return target.host == "localhost" || (address && address->is_loopback());
}

aio::Task<void> tunnel(ByteStream* connection, Url proxy, Url target, aio::Deadline deadline) {
  const std::string where = target.authority();
  std::string request = cat("CONNECT ", where, " HTTP/1.1\r\nHost: ", where, "\r\n");
  if (const auto password = proxy_authorization(proxy); !password.empty()) {
    request += cat("Proxy-Authorization: ", password, "\r\n");
  }
  MNET_CO_TRY_VOID(co_await connection->write(request + "\r\n", deadline));

  Message answer(MessageKind::kResponseToHead);
  std::string unread;
  while (!answer.has_head()) {
    MNET_CO_TRY(auto&& bytes, co_await connection->read(deadline));
    unread += bytes;
    auto used = answer.take_head(unread);
    if (!used || bytes.empty() || unread.size() > kMaxHead) {
      co_return Error(Errc::kProtocol,
                      cat("proxy ", proxy.authority(), ": the answer is not HTTP"));
    }
    unread.erase(0, *used);
  }
  if (answer.head().status / 100 == 2) co_return Result<void>();
  co_return Error(Errc::kUnavailable,
                  cat("proxy ", proxy.authority(), ": status ", answer.head().status));
}

// One conversation in SOCKS 5 (RFC 1928, 1929).
class Socks {
 public:
  Socks(ByteStream* connection, Url proxy, aio::Deadline deadline)
      : connection_(connection), proxy_(std::move(proxy)), deadline_(deadline) {}

  aio::Task<void> connect_to(Url target) {
    const bool has_password = !proxy_.user_info.empty();
    std::string greeting =
        has_password ? std::string("\x05\x02\x00\x02", 4) : std::string("\x05\x01\x00", 3);
    MNET_CO_TRY(auto&& method, co_await ask(std::move(greeting), 2));
    if (method[0] != 5) co_return refused("does not speak SOCKS 5");
    if (method[1] == 2 && has_password) {
      MNET_CO_TRY(auto&& known, co_await ask(credentials(), 2));
      if (known[1] != 0) co_return refused("wrong user or password");
    } else if (method[1] != 0) {
      co_return refused("requires an authentication method that is not supported");
    }
    co_return co_await open(std::move(target));
  }

 private:
  aio::Task<void> open(Url target) {
    std::string request("\x05\x01\x00\x03", 4);
    request += static_cast<char>(target.host.size());
    request += target.host;
    request += static_cast<char>(target.port >> 8);
    request += static_cast<char>(target.port & 0xff);
    MNET_CO_TRY(auto&& answer, co_await ask(std::move(request), 5));
    if (answer[1] != 0) co_return refused(cat("refused with code ", int{answer[1]}));
    // The address that the proxy is bound to must be read, though we do not use it. Its first byte
    // is here already.
    const auto kind = answer[3];
    const std::size_t length = kind == 1   ? 4u
                               : kind == 4 ? 16u
                                           : static_cast<unsigned char>(answer[4]) + 1u;
    MNET_CO_TRY([[maybe_unused]] const auto& rest, co_await ask({}, length - 1 + 2));
    co_return Result<void>();
  }

  std::string credentials() const {
    const auto colon = proxy_.user_info.find(':');
    const std::string user = proxy_.user_info.substr(0, colon).substr(0, 255);
    const std::string password =
        colon == std::string::npos ? "" : proxy_.user_info.substr(colon + 1).substr(0, 255);
    return cat('\x01', static_cast<char>(user.size()), user, static_cast<char>(password.size()),
               password);
  }

  aio::Task<std::string> ask(std::string request, std::size_t wanted) {
    if (!request.empty()) {
      MNET_CO_TRY_VOID(co_await connection_->write(std::move(request), deadline_));
    }
    while (unread_.size() < wanted) {
      MNET_CO_TRY(auto&& bytes, co_await connection_->read(deadline_));
      if (bytes.empty()) co_return refused("closed the connection");
      unread_ += bytes;
    }
    std::string answer = unread_.substr(0, wanted);
    unread_.erase(0, wanted);
    co_return answer;
  }

  Error refused(std::string_view why) const {
    return Error(Errc::kUnavailable, cat("proxy ", proxy_.authority(), ": ", why));
  }

  ByteStream* connection_;
  Url proxy_;
  aio::Deadline deadline_;
  std::string unread_;
};

}  // namespace

Result<Url> parse_proxy(std::string_view text) {
  auto url = text.find("://") == std::string_view::npos ? parse_url(cat("http://", text))
                                                        : parse_url(text);
  if (!url) return std::move(url).error().wrap("proxy");
  return url;
}

Result<std::optional<Url>> proxy_of_environment(const Url& target,
                                                const std::vector<std::string>& environment) {
  const std::string named =
      either_case(environment, target.scheme == "https" ? "HTTPS_PROXY" : "HTTP_PROXY");
  if (named.empty() || is_local(target)) return std::optional<Url>();
  const std::string exceptions = either_case(environment, "NO_PROXY");
  for (const std::string_view entry : split(exceptions, ',')) {
    if (excludes(entry, target)) return std::optional<Url>();
  }
  MNET_TRY(auto&& proxy, parse_proxy(named));
  return std::optional<Url>(std::move(proxy));
}

bool needs_absolute_form(const Url& proxy, const Url& target) {
  return target.scheme == "http" && proxy.scheme.starts_with("http");
}

std::string proxy_authorization(const Url& proxy) {
  return proxy.user_info.empty() ? "" : cat("Basic ", to_base64(proxy.user_info));
}

aio::Task<ByteStreamPtr> connect_through(Url proxy, TlsContextPtr tls, Url target,
                                         aio::Deadline deadline) {
  auto connection = co_await connect_tcp(proxy.host, proxy.port, deadline);
  if (!connection) co_return std::move(connection).error().wrap("proxy");
  if (proxy.scheme == "https") {
    connection = co_await start_tls(*std::move(connection), tls, proxy.host, deadline);
    if (!connection) co_return std::move(connection).error().wrap("proxy");
  }
  if (needs_absolute_form(proxy, target)) co_return connection;

  ByteStream* const raw = connection->get();
  if (proxy.scheme.starts_with("socks5")) {
    Socks socks(raw, proxy, deadline);
    MNET_CO_TRY_VOID(co_await socks.connect_to(target));
  } else {
    MNET_CO_TRY_VOID(co_await tunnel(raw, proxy, target, deadline));
  }
  co_return connection;
}

}  // namespace mnet::http
