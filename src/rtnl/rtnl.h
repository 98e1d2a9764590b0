// Finds links and edits default routes inside a given network namespace. Blocking, and enters that
// namespace: call it only on a thread of aio::BlockingPool.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/address_family.h"
#include "base/result.h"
#include "sys/netns.h"

namespace mnet::rtnl {

// Those of `ifnames` that exist in `target`, in the given order.
Result<std::vector<std::string>> find_links(const sys::NetNs& target,
                                            const std::vector<std::string>& ifnames);

struct Link {
  std::string name;
  int index = 0;
};
// All links of `target`.
Result<std::vector<Link>> list_links(const sys::NetNs& target);
// Gives the link of that index another name. It is down afterwards.
Result<void> rename_link(const sys::NetNs& target, int index, const std::string& name);

// Default routes are the routes of the main table with a destination of length 0, of any metric,
// protocol and type. A route with several next hops is on the interface of each of them.

// False if there is no such link.
Result<bool> has_default_route(const sys::NetNs& target, const std::string& ifname,
                               AddressFamily family);

// Removes each default route on `ifname`, exactly as the kernel lists it (02, 5.4). Success if a
// route is already gone, or if there is no such link.
Result<void> remove_default_routes(const sys::NetNs& target, const std::string& ifname,
                                   AddressFamily family);

// Adds the default route via `gateway`, an IPv4 or IPv6 address, without a metric. Success if it
// exists already. Other default routes of the same metric are replaced if they are only on `ifname`
// and `own_ifnames`. It is an error if there is no such link.
Result<void> add_default_route(const sys::NetNs& target, const std::string& ifname,
                               const std::string& gateway,
                               const std::vector<std::string>& own_ifnames);

}  // namespace mnet::rtnl
