#include "rtnl/socket.h"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/fd.h"
#include "sys/netns.h"

namespace mnet::rtnl {

Result<sys::UniqueFd> socket_in(const sys::NetNs& target, int domain, int type, int protocol) {
  MNET_TRY([[maybe_unused]] const auto& inside, sys::ScopedNetNs::enter(target));
  sys::UniqueFd socket(::socket(domain, type | SOCK_CLOEXEC, protocol));
  if (!socket) return Error::from_errno(errno, "socket");
  return socket;
}

Result<std::optional<int>> find_link_index(const sys::UniqueFd& socket, const std::string& ifname) {
  ifreq request{};
  if (ifname.empty() || ifname.size() >= sizeof request.ifr_name) return std::nullopt;
  std::ranges::copy(ifname, request.ifr_name);
  if (::ioctl(socket.get(), SIOCGIFINDEX, &request) == 0) return request.ifr_ifindex;
  if (errno == ENODEV) return std::nullopt;
  return Error::from_errno(errno, cat("looking for link ", ifname));
}

}  // namespace mnet::rtnl
