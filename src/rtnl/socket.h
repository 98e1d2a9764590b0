// Sockets that belong to a given network namespace, and link indexes through them. Inside use.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "sys/fd.h"
#include "sys/netns.h"

namespace mnet::rtnl {

// A socket belongs for good to the namespace it was made in, so the thread is home again when this
// returns.
Result<sys::UniqueFd> socket_in(const sys::NetNs& target, int domain, int type, int protocol);

// None if no link there has this name. Any socket will do.
Result<std::optional<int>> find_link_index(const sys::UniqueFd& socket, const std::string& ifname);

}  // namespace mnet::rtnl
