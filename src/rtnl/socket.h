// Makes sockets in a given network namespace, and finds link indexes through them. Internal.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "sys/fd.h"
#include "sys/netns.h"

namespace mnet::rtnl {

// A socket stays in the namespace in which it was made, so the thread is back in its own namespace
// when this returns.
Result<sys::UniqueFd> socket_in(const sys::NetNs& target, int domain, int type, int protocol);

// None if no link in the socket's namespace has this name. Any kind of socket will do.
Result<std::optional<int>> find_link_index(const sys::UniqueFd& socket, const std::string& ifname);

}  // namespace mnet::rtnl
