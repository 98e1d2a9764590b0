#include <sys/socket.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "rtnl/rtnl.h"
#include "rtnl/socket.h"
#include "sys/netns.h"

namespace mnet::rtnl {

Result<std::vector<std::string>> find_links(const sys::NetNs& target,
                                            const std::vector<std::string>& ifnames) {
  auto socket = socket_in(target, AF_UNIX, SOCK_DGRAM, 0);
  if (!socket) return std::move(socket).error();
  std::vector<std::string> found;
  for (const std::string& ifname : ifnames) {
    auto index = find_link_index(*socket, ifname);
    if (!index) return std::move(index).error();
    if (*index) found.push_back(ifname);
  }
  return found;
}

}  // namespace mnet::rtnl
