#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "rtnl/rtnl.h"
#include "sys/fd.h"

namespace mnet::rtnl {
namespace {

// A socket belongs for good to the namespace it was made in, so the thread can go home at once.
Result<sys::UniqueFd> socket_in(const sys::NetNs& target) {
  auto inside = sys::ScopedNetNs::enter(target);
  if (!inside) return std::move(inside).error();
  sys::UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return Error::from_errno(errno, "socket");
  return socket;
}

Result<bool> has_link(const sys::UniqueFd& socket, const std::string& ifname) {
  ifreq request{};
  if (ifname.empty() || ifname.size() >= sizeof request.ifr_name) return false;
  std::ranges::copy(ifname, request.ifr_name);
  if (::ioctl(socket.get(), SIOCGIFINDEX, &request) == 0) return true;
  if (errno == ENODEV) return false;
  return Error::from_errno(errno, cat("looking for link ", ifname));
}

}  // namespace

Result<std::vector<std::string>> find_links(const sys::NetNs& target,
                                            const std::vector<std::string>& ifnames) {
  auto socket = socket_in(target);
  if (!socket) return std::move(socket).error();
  std::vector<std::string> found;
  for (const std::string& ifname : ifnames) {
    auto exists = has_link(*socket, ifname);
    if (!exists) return std::move(exists).error();
    if (*exists) found.push_back(ifname);
  }
  return found;
}

}  // namespace mnet::rtnl
