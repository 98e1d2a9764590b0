#include "multusctl/trial/echo.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/random_number.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/fd.h"

namespace mnet::multusctl {
namespace {

using Clock = std::chrono::steady_clock;
// An answer is never answered: with the address of one probe as the sender of a packet to another
// these two would send to each other for ever.
constexpr std::string_view kMagic = "multusctl", kAnswer = "MULTUSCTL";
static_assert(kMagic.size() == kAnswer.size());
constexpr std::size_t kNonce = 8, kMostName = 64, kSmall = 128, kMostBytes = 65535;
constexpr int kAttempts = 3;

// An IPv4 address as IPv6 has it.
Result<sockaddr_in6> parse_address(const std::string& text, std::uint16_t port,
                                   unsigned int interface) {
  sockaddr_in6 out{};
  out.sin6_family = AF_INET6;
  out.sin6_port = htons(port);
  const std::string mapped = text.contains(':') ? text : cat("::ffff:", text);
  if (::inet_pton(AF_INET6, mapped.c_str(), &out.sin6_addr) != 1) {
    return Error(Errc::kInvalid, cat(go_quoted(text), " is not an address"));
  }
  if (IN6_IS_ADDR_LINKLOCAL(&out.sin6_addr)) out.sin6_scope_id = interface;
  return out;
}

void set_option(const sys::UniqueFd& fd, int level, int name, int value) {
  (void)::setsockopt(fd.get(), level, name, &value, sizeof value);
}

// One socket for both families.
Result<sys::UniqueFd> make_socket() {
  sys::UniqueFd fd(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd) return Error::from_errno(errno, "socket");
  set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  return fd;
}

bool wait_readable(const sys::UniqueFd& fd, Clock::time_point end) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    pollfd one{.fd = fd.get(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&one, 1, static_cast<int>(std::max<long>(0, left.count())));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

int mtu_of(const std::string& interface) {
  const sys::UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  return ::ioctl(fd.get(), SIOCGIFMTU, &request) == 0 ? request.ifr_mtu : 0;
}

bool has_address(const std::string& interface, const in6_addr& address) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return true;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(all, &::freeifaddrs);
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || interface != one->ifa_name) continue;
    if (one->ifa_addr->sa_family == AF_INET6 &&
        std::memcmp(&reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr, &address,
                    sizeof address) == 0) {
      return true;
    }
    if (one->ifa_addr->sa_family == AF_INET && IN6_IS_ADDR_V4MAPPED(&address) &&
        std::memcmp(&reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr,
                    address.s6_addr + 12, 4) == 0) {
      return true;
    }
  }
  return false;
}

// Why routes do not lead there through the interface; empty: they do. A socket that is bound to the
// interface would take every address for a neighbour.
std::string why_no_route(const EchoTarget& target, const sockaddr_in6& address) {
  const auto fd = make_socket();
  if (!fd) return {};
  if (::connect(fd->get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return cat("no route: ", errno_text(errno));
  }
  sockaddr_in6 own{};
  socklen_t size = sizeof own;
  if (target.interface.empty() ||
      ::getsockname(fd->get(), reinterpret_cast<sockaddr*>(&own), &size) != 0 ||
      has_address(target.interface, own.sin6_addr)) {
    return {};
  }
  return cat("the route to ", target.address, " does not lead through ", target.interface);
}

class Sender {
 public:
  Sender(const EchoTarget& target, sys::UniqueFd fd, const sockaddr_in6& address)
      : target_(target), fd_(std::move(fd)), address_(address) {
    const int probe = IP_PMTUDISC_PROBE;
    set_option(fd_, IPPROTO_IP, IP_MTU_DISCOVER, probe);
    set_option(fd_, IPPROTO_IPV6, IPV6_MTU_DISCOVER, probe);
    set_option(fd_, IPPROTO_IPV6, IPV6_DONTFRAG, 1);
  }

  Echo run() {
    Echo echo;
    std::vector<std::chrono::microseconds> times;
    for (int i = 0; i < kAttempts; ++i) {
      if (const auto took = exchange(kSmall, echo)) times.push_back(*took);
      if (echo.state == Echo::State::kNoRoute) return echo;
    }
    if (times.empty()) {
      echo.why = cat("no answer to ", kAttempts, " packets");
      return echo;
    }
    std::ranges::sort(times);
    echo.round_trip = times[times.size() / 2];
    echo.state = Echo::State::kOk;
    measure_mtu(echo);
    return echo;
  }

 private:
  int headers() const { return IN6_IS_ADDR_V4MAPPED(&address_.sin6_addr) ? 28 : 48; }

  void measure_mtu(Echo& echo) {
    echo.mtu = target_.interface.empty() ? 0 : mtu_of(target_.interface);
    if (echo.mtu == 0) return;
    const int most = std::min<int>(echo.mtu, kMostBytes);
    if (is_answered(most, echo)) {
      echo.largest = most;
      return;
    }
    int good = static_cast<int>(kSmall) + headers(), bad = most;
    while (bad - good > 8) {
      const int middle = (good + bad) / 2;
      (is_answered(middle, echo) ? good : bad) = middle;
    }
    echo.largest = good;
    echo.state = Echo::State::kMtu;
    echo.why = cat("packets of ", most, " bytes, the MTU of ", target_.interface,
                   ", are lost; those of about ", good, " arrive");
  }

  bool is_answered(int packet, Echo& echo) {
    for (int i = 0; i < kAttempts; ++i) {
      if (exchange(static_cast<std::size_t>(packet - headers()), echo)) return true;
    }
    return false;
  }

  // How long it took; none: no answer, or it could not be sent.
  std::optional<std::chrono::microseconds> exchange(std::size_t bytes, Echo& echo) {
    std::string packet(kMagic);
    const std::uint64_t nonce = random_number();
    packet.append(reinterpret_cast<const char*>(&nonce), kNonce);
    packet.resize(bytes, 'x');
    const auto begun = Clock::now();
    const auto sent = ::sendto(fd_.get(), packet.data(), packet.size(), 0,
                               reinterpret_cast<const sockaddr*>(&address_), sizeof address_);
    if (sent < 0) {
      const bool is_route = errno == ENETUNREACH || errno == EHOSTUNREACH || errno == ENETDOWN;
      if (is_route) echo.state = Echo::State::kNoRoute;
      echo.why = cat("cannot send: ", errno_text(errno));
      return std::nullopt;
    }
    return receive(cat(kAnswer, packet.substr(kMagic.size(), kNonce)), begun, echo);
  }

  std::optional<std::chrono::microseconds> receive(const std::string& head, Clock::time_point begun,
                                                   Echo& echo) {
    std::string buffer(kMostBytes, '\0');
    while (wait_readable(fd_, begun + target_.patience)) {
      const auto got = ::recv(fd_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got < 0) continue;  // an ICMP error of an earlier packet
      const std::string_view answer(buffer.data(), static_cast<std::size_t>(got));
      if (!answer.starts_with(head)) continue;  // of an earlier packet
      const std::string_view name = answer.substr(head.size(), kMostName);
      echo.by = excerpt(name.substr(0, name.find('\n')));
      return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun);
    }
    return std::nullopt;
  }

  const EchoTarget& target_;
  sys::UniqueFd fd_;
  sockaddr_in6 address_;
};

}  // namespace

Result<void> answer_echoes(std::uint16_t port, const std::string& name) {
  MNET_TRY(const auto& fd, make_socket());
  set_option(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
  sockaddr_in6 own{};
  own.sin6_family = AF_INET6;
  own.sin6_port = htons(port);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) {
    return Error::from_errno(errno, cat("UDP port ", port));
  }
  std::string buffer(kMostBytes, '\0');
  alignas(cmsghdr) std::array<char, 256> control{};
  for (;;) {
    sockaddr_in6 peer{};
    iovec piece{.iov_base = buffer.data(), .iov_len = buffer.size()};
    msghdr message{};
    message.msg_name = &peer;
    message.msg_namelen = sizeof peer;
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const auto got = ::recvmsg(fd.get(), &message, 0);
    if (got < 0 && errno != EINTR && errno != ECONNREFUSED) return Error::from_errno(errno, "recv");
    const std::size_t head = kMagic.size() + kNonce;
    if (got < static_cast<ssize_t>(head) || !std::string_view(buffer).starts_with(kMagic)) continue;
    kAnswer.copy(buffer.data(), kAnswer.size());
    const std::string label = cat(name.substr(0, kMostName - 1), "\n");
    const auto length = static_cast<std::size_t>(got);
    if (length >= head + label.size()) label.copy(buffer.data() + head, label.size());
    piece.iov_len = length;
    // The same control message: from the address that was asked, through the interface it came by.
    (void)::sendmsg(fd.get(), &message, 0);
  }
}

Echo send_echoes(const EchoTarget& target) {
  Echo failed;
  const unsigned int index = ::if_nametoindex(target.interface.c_str());
  if (!target.interface.empty() && index == 0) {
    failed.state = Echo::State::kNoRoute;
    failed.why = cat("there is no interface ", target.interface);
    return failed;
  }
  const auto address = parse_address(target.address, target.port, index);
  auto fd = make_socket();
  if (!address || !fd) {
    failed.why = address ? fd.error().text() : address.error().text();
    return failed;
  }
  failed.why = why_no_route(target, *address);
  if (!failed.why.empty()) {
    failed.state = Echo::State::kNoRoute;
    return failed;
  }
  if (!target.interface.empty()) {
    (void)::setsockopt(fd->get(), SOL_SOCKET, SO_BINDTODEVICE, target.interface.c_str(),
                       static_cast<socklen_t>(target.interface.size()));
  }
  return Sender(target, *std::move(fd), *address).run();
}

}  // namespace mnet::multusctl
