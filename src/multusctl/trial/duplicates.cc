#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/if_ether.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "multusctl/trial/echo.h"
#include "sys/fd.h"
#include "sys/file.h"

namespace mnet::multusctl {
namespace {

using Clock = std::chrono::steady_clock;
using Mac = std::array<std::uint8_t, ETH_ALEN>;

std::vector<in_addr> own_addresses(const std::string& interface) {
  std::vector<in_addr> out;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return out;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(all, &::freeifaddrs);
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    if (interface != one->ifa_name) continue;
    out.push_back(reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr);
  }
  return out;
}

std::string text_of(in_addr address) {
  char text[INET_ADDRSTRLEN] = {};
  ::inet_ntop(AF_INET, &address, text, sizeof text);
  return text;
}

std::string text_of(const std::uint8_t* mac) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (int i = 0; i < ETH_ALEN; ++i) {
    out += cat(i == 0 ? "" : ":", kHex[mac[i] >> 4], kHex[mac[i] & 15]);
  }
  return out;
}

// A socket for ARP on the interface, and the interface's own address.
class ArpSocket {
 public:
  static Result<ArpSocket> make(const std::string& interface) {
    ArpSocket out;
    out.fd_.reset(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_ARP)));
    if (!out.fd_) return Error::from_errno(errno, "ARP");
    ifreq request{};
    interface.copy(request.ifr_name, IFNAMSIZ - 1);
    if (::ioctl(out.fd_.get(), SIOCGIFHWADDR, &request) != 0) {
      return Error::from_errno(errno, interface);
    }
    if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER) {
      return Error(Errc::kInvalid, cat(interface, " has no ARP"));
    }
    std::memcpy(out.mac_.data(), request.ifr_hwaddr.sa_data, ETH_ALEN);
    out.place_.sll_family = AF_PACKET;
    out.place_.sll_protocol = htons(ETH_P_ARP);
    out.place_.sll_ifindex = static_cast<int>(::if_nametoindex(interface.c_str()));
    out.place_.sll_halen = ETH_ALEN;
    std::memset(out.place_.sll_addr, 0xff, ETH_ALEN);
    if (::bind(out.fd_.get(), reinterpret_cast<const sockaddr*>(&out.place_), sizeof out.place_) !=
        0) {
      return Error::from_errno(errno, interface);
    }
    return out;
  }

  // RFC 5227: a probe comes from no address, so that no station learns a wrong one.
  Result<void> ask(in_addr address) const {
    ether_arp probe{};
    probe.arp_hrd = htons(ARPHRD_ETHER);
    probe.arp_pro = htons(ETH_P_IP);
    probe.arp_hln = ETH_ALEN;
    probe.arp_pln = 4;
    probe.arp_op = htons(ARPOP_REQUEST);
    std::memcpy(probe.arp_sha, mac_.data(), ETH_ALEN);
    std::memcpy(probe.arp_tpa, &address, 4);
    if (::sendto(fd_.get(), &probe, sizeof probe, 0, reinterpret_cast<const sockaddr*>(&place_),
                 sizeof place_) < 0) {
      return Error::from_errno(errno, "ARP");
    }
    return {};
  }

  // Answers of others for one of the addresses until `end`.
  void listen(const std::vector<in_addr>& own, Clock::time_point end,
              std::vector<Duplicate>& out) const {
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
      pollfd one{.fd = fd_.get(), .events = POLLIN, .revents = 0};
      if (left.count() <= 0 || ::poll(&one, 1, static_cast<int>(left.count())) <= 0) return;
      ether_arp heard{};
      if (::recv(fd_.get(), &heard, sizeof heard, MSG_DONTWAIT) < static_cast<ssize_t>(28))
        continue;
      if (std::memcmp(heard.arp_sha, mac_.data(), ETH_ALEN) == 0) continue;
      const auto is_ours = [&heard](in_addr address) {
        return std::memcmp(heard.arp_spa, &address, 4) == 0;
      };
      const auto found = std::ranges::find_if(own, is_ours);
      if (found == own.end()) continue;
      const Duplicate duplicate{.address = text_of(*found), .mac = text_of(heard.arp_sha)};
      const bool is_known = std::ranges::any_of(out, [&duplicate](const Duplicate& known) {
        return known.address == duplicate.address && known.mac == duplicate.mac;
      });
      if (!is_known) out.push_back(duplicate);
    }
  }

 private:
  sys::UniqueFd fd_;
  Mac mac_{};
  sockaddr_ll place_{};
};

// `fe800000000000000000000000000001 02 40 20 88 eth0`: address, index, prefix, scope, flags, name.
void add_failed_v6(const std::string& interface, std::vector<Duplicate>& out) {
  constexpr int kDadFailed = 0x08;
  const auto text = sys::read_file("/proc/net/if_inet6");
  if (!text) return;
  for (const std::string_view line : split(*text, '\n')) {
    std::vector<std::string> words;
    for (const std::string_view word : split(line, ' ')) {
      if (!word.empty()) words.emplace_back(word);
    }
    if (words.size() < 6 || words[5] != interface) continue;
    if ((std::strtol(words[4].c_str(), nullptr, 16) & kDadFailed) == 0) continue;
    std::string address;
    for (std::size_t i = 0; i < 32; i += 4) {
      address += cat(i == 0 ? "" : ":", words[0].substr(i, 4));
    }
    out.push_back({.address = std::move(address), .mac = {}});
  }
}

}  // namespace

Result<std::vector<Duplicate>> find_duplicates(const std::string& interface,
                                               std::chrono::milliseconds patience) {
  std::vector<Duplicate> found;
  add_failed_v6(interface, found);
  const std::vector<in_addr> own = own_addresses(interface);
  if (own.empty()) return found;
  MNET_TRY(const auto& arp, ArpSocket::make(interface));
  for (const in_addr address : own) {
    MNET_TRY_VOID(arp.ask(address));
  }
  arp.listen(own, Clock::now() + patience, found);
  return found;
}

}  // namespace mnet::multusctl
