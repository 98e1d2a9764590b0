#include <sys/socket.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "base/try.h"
#include "rtnl/rtnl.h"
#include "rtnl/socket.h"
#include "sys/netns.h"

namespace mnet::rtnl {

Result<std::vector<std::string>> find_links(const sys::NetNs& target,
                                            const std::vector<std::string>& ifnames) {
  MNET_TRY(auto&& socket, socket_in(target, AF_UNIX, SOCK_DGRAM, 0));
  std::vector<std::string> found;
  for (const std::string& ifname : ifnames) {
    MNET_TRY(auto&& index, find_link_index(socket, ifname));
    if (index) found.push_back(ifname);
  }
  return found;
}

}  // namespace mnet::rtnl
