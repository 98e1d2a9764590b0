// Reads and edits links and routes inside a given network namespace. Blocking, and it enters that
// namespace: only on a thread of aio::BlockingPool.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sys/netns.h"

namespace mnet::rtnl {

// Those of `ifnames` that links in `target` have, in this order.
Result<std::vector<std::string>> find_links(const sys::NetNs& target,
                                            const std::vector<std::string>& ifnames);

}  // namespace mnet::rtnl
