// One route as rtnetlink tells of it. Text of the kernel to values and back; no sockets. Inside
// use.
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
  bool is_cached = false;  // a copy that the kernel keeps for itself
  std::vector<Hop> hops;
  std::string deletion;  // the body of the request that removes exactly this route

  bool is_default() const;  // of the main table
  bool is_on(int ifindex) const;
  // The body of the request that takes this route from that link. IPv6 routes of one metric are one
  // route to the kernel, whoever added them: what is on other links stays.
  std::string deletion_on(int ifindex) const;
};

// None if it is no route of the two families.
std::optional<Route> parse_route(std::string_view message);

// 4 or 16 bytes of an address; none if the text is no address.
std::optional<std::string> address_bytes(const std::string& text);
inline AddressFamily family_of(std::string_view address_bytes) {
  return address_bytes.size() == 4 ? AddressFamily::kV4 : AddressFamily::kV6;
}

// The body of a request for the default route via `hop`; of a request for all routes.
std::string default_route_via(const Hop& hop);
std::string all_routes(AddressFamily family);

}  // namespace mnet::rtnl
