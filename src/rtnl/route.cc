#include "rtnl/route.h"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/address_family.h"
#include "rtnl/netlink.h"

namespace mnet::rtnl {
namespace {

std::uint8_t kernel_family(AddressFamily family) {
  return family == AddressFamily::kV4 ? AF_INET : AF_INET6;
}

// An IPv4 route may have an IPv6 next hop (RTA_VIA): the family, then the address.
void read_hop_attribute(Hop& hop, const Attribute& attribute) {
  if (attribute.type == RTA_GATEWAY) hop.gateway = attribute.bytes;
  if (attribute.type == RTA_VIA && attribute.bytes.size() > sizeof(rtvia)) {
    hop.gateway = attribute.bytes.substr(sizeof(rtvia));
  }
}

// The entries of RTA_MULTIPATH, each with its padding.
std::vector<std::string_view> entries_in(std::string_view bytes) {
  std::vector<std::string_view> entries;
  for (;;) {
    const auto next = value_in<rtnexthop>(bytes);
    if (!next || next->rtnh_len < sizeof(rtnexthop) || next->rtnh_len > bytes.size()) {
      return entries;
    }
    const std::size_t length = std::min(aligned(next->rtnh_len), bytes.size());
    entries.push_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
}

Hop hop_of(std::string_view entry) {
  const auto header = value_in<rtnexthop>(entry);
  Hop hop;
  hop.ifindex = header->rtnh_ifindex;
  const auto more = entry.substr(sizeof(rtnexthop), header->rtnh_len - sizeof(rtnexthop));
  for (const Attribute& attribute : attributes_in(more)) read_hop_attribute(hop, attribute);
  return hop;
}

std::vector<Hop> hops_in(std::string_view bytes) {
  std::vector<Hop> hops;
  for (const std::string_view entry : entries_in(bytes)) hops.push_back(hop_of(entry));
  return hops;
}

std::string entries_on(std::string_view bytes, int ifindex) {
  std::string kept;
  for (const std::string_view entry : entries_in(bytes)) {
    if (hop_of(entry).ifindex == ifindex) kept += entry;
  }
  return kept;
}

// A dump lists the hops of a next-hop object beside it; a request must not name both.
bool is_of_hop(std::uint16_t type) {
  return type == RTA_GATEWAY || type == RTA_VIA || type == RTA_OIF || type == RTA_MULTIPATH ||
         type == RTA_ENCAP || type == RTA_ENCAP_TYPE;
}

// The message as listed: `ip route flush` sends it back whole, too.
std::string deletion_of(std::string_view message, const std::vector<Attribute>& attributes) {
  const bool has_hop_object =
      std::ranges::any_of(attributes, [](const Attribute& each) { return each.type == RTA_NH_ID; });
  if (!has_hop_object) return std::string(message);
  std::string body(message.substr(0, aligned(sizeof(rtmsg))));
  for (const Attribute& attribute : attributes) {
    if (!is_of_hop(attribute.type)) append_attribute(body, attribute.type, attribute.bytes);
  }
  return body;
}

void read_attribute(Route& route, Hop& hop, const Attribute& attribute) {
  const auto number = value_in<std::uint32_t>(attribute.bytes);
  switch (attribute.type) {
    case RTA_TABLE:
      if (number) route.table = *number;
      break;
    case RTA_PRIORITY:
      if (number) route.metric = *number;
      break;
    case RTA_OIF:
      if (number) hop.ifindex = static_cast<int>(*number);
      break;
    case RTA_DST:
      route.destination = attribute.bytes;
      break;
    case RTA_MULTIPATH:
      route.hops = hops_in(attribute.bytes);
      break;
    default:
      read_hop_attribute(hop, attribute);
  }
}

}  // namespace

bool Route::is_default() const {
  return table == RT_TABLE_MAIN && destination_length == 0 && !is_cached &&
         std::ranges::all_of(destination, [](char byte) { return byte == 0; });
}

bool Route::is_on(int ifindex) const {
  return std::ranges::any_of(hops, [&](const Hop& hop) { return hop.ifindex == ifindex; });
}

std::string Route::deletion_on(int ifindex) const {
  // An IPv4 route with several hops was added as one route, and is removed as one.
  if (family == AddressFamily::kV4 || hops.size() < 2) return deletion;
  const std::size_t begin = aligned(sizeof(rtmsg));
  std::string body = deletion.substr(0, begin);
  for (const Attribute& attribute : attributes_in(std::string_view(deletion).substr(begin))) {
    if (attribute.type == RTA_MULTIPATH) {
      append_attribute(body, RTA_MULTIPATH, entries_on(attribute.bytes, ifindex));
    } else {
      append_attribute(body, attribute.type, attribute.bytes);
    }
  }
  return body;
}

std::optional<Route> parse_route(std::string_view message) {
  const auto header = value_in<rtmsg>(message);
  if (!header || (header->rtm_family != AF_INET && header->rtm_family != AF_INET6)) {
    return std::nullopt;
  }
  Route route;
  route.family = header->rtm_family == AF_INET ? AddressFamily::kV4 : AddressFamily::kV6;
  route.table = header->rtm_table;
  route.destination_length = header->rtm_dst_len;
  route.is_cached = (header->rtm_flags & RTM_F_CLONED) != 0;
  const std::size_t begin = std::min(aligned(sizeof(rtmsg)), message.size());
  const std::vector<Attribute> attributes = attributes_in(message.substr(begin));
  Hop hop;
  for (const Attribute& attribute : attributes) read_attribute(route, hop, attribute);
  if (route.hops.empty()) route.hops.push_back(std::move(hop));
  route.deletion = deletion_of(message, attributes);
  return route;
}

std::optional<std::string> address_bytes(const std::string& text) {
  in_addr v4{};
  if (::inet_pton(AF_INET, text.c_str(), &v4) == 1) return std::string(bytes_of(v4));
  in6_addr v6{};
  if (::inet_pton(AF_INET6, text.c_str(), &v6) == 1) return std::string(bytes_of(v6));
  return std::nullopt;
}

std::string default_route_via(const Hop& hop) {
  rtmsg header{};
  header.rtm_family = kernel_family(family_of(hop.gateway));
  header.rtm_table = RT_TABLE_MAIN;
  header.rtm_protocol = RTPROT_BOOT;
  header.rtm_scope = RT_SCOPE_UNIVERSE;
  header.rtm_type = RTN_UNICAST;
  std::string body(bytes_of(header));
  append_attribute(body, RTA_GATEWAY, hop.gateway);
  append_attribute(body, RTA_OIF, bytes_of(static_cast<std::uint32_t>(hop.ifindex)));
  return body;
}

std::string all_routes(AddressFamily family) {
  rtmsg header{};
  header.rtm_family = kernel_family(family);
  return std::string(bytes_of(header));
}

}  // namespace mnet::rtnl
