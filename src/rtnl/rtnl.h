// Reads and edits links and routes inside a given network namespace. Blocking, and it enters that
// namespace: only on a thread of aio::BlockingPool.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/address_family.h"
#include "base/result.h"
#include "sys/netns.h"

namespace mnet::rtnl {

// Those of `ifnames` that links in `target` have, in this order.
Result<std::vector<std::string>> find_links(const sys::NetNs& target,
                                            const std::vector<std::string>& ifnames);

// Default routes: of the main table, with a destination of length 0, of any metric, protocol and
// type. One with several next hops is on the interface of each.

// False also without such a link.
Result<bool> has_default_route(const sys::NetNs& target, const std::string& ifname,
                               AddressFamily family);

// Each that is on `ifname`, exactly as it is listed (02, 5.4). One that is gone by then is fine,
// and so is a link that is not there.
Result<void> remove_default_routes(const sys::NetNs& target, const std::string& ifname,
                                   AddressFamily family);

// Adds the one via `gateway`, an IPv4 or IPv6 address, without a metric. If it is there already:
// fine. Others of the same metric give way if they are on `ifname` and `own_ifnames` and nowhere
// else. No such link is an error.
Result<void> add_default_route(const sys::NetNs& target, const std::string& ifname,
                               const std::string& gateway,
                               const std::vector<std::string>& own_ifnames);

}  // namespace mnet::rtnl
