// One route of rtnetlink: converts between the kernel's messages and values. No sockets. Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rtnl/rtnl.h"

namespace mnet::rtnl {

struct Hop {
  int ifindex = 0;      // 0: none
  std::string gateway;  // its bytes; empty: none

  friend bool operator==(const Hop&, const Hop&) = default;
};

struct Route {
  AddressFamily family = AddressFamily::kV4;
  std::uint32_t table = 0;
  int destination_length = 0;
  std::string destination;  // its bytes; empty: none
  std::uint32_t metric = 0;
  bool is_cached = false;  // in the kernel's own cache, not in a table
  std::vector<Hop> hops;
  std::string deletion;  // the body of the request that removes exactly this route

  bool is_default() const;  // of the main table
  bool is_on(int ifindex) const;
  // The body of the request that removes this route from that link. To the kernel, IPv6 routes of
  // one metric are one route, even if different programs added them: what is on other links stays.
  std::string deletion_on(int ifindex) const;
};

// None if it is not an IPv4 or IPv6 route.
std::optional<Route> parse_route(std::string_view message);

// The 4 or 16 bytes of an address; none if the text is not an address.
std::optional<std::string> address_bytes(const std::string& text);
inline AddressFamily family_of(std::string_view address_bytes) {
  return address_bytes.size() == 4 ? AddressFamily::kV4 : AddressFamily::kV6;
}

// The body of a request to add the default route via `hop`, and of one to list all routes.
std::string default_route_via(const Hop& hop);
std::string all_routes(AddressFamily family);

}  // namespace mnet::rtnl
