#include <linux/if_link.h>
#include <linux/rtnetlink.h>  // IWYU pragma: keep  (RTM_*)
#include <net/if.h>           // IWYU pragma: keep  (IFF_UP)
#include <sys/socket.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "rtnl/netlink.h"
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

namespace {

constexpr int kTries = 10;  // as for routes: a list that changes is made again

std::string header_of(int index, unsigned flags, unsigned change) {
  ifinfomsg header{};
  header.ifi_family = AF_UNSPEC;
  header.ifi_index = index;
  header.ifi_flags = flags;
  header.ifi_change = change;
  return std::string(bytes_of(header));
}

void take_link(std::string_view message, std::vector<Link>& out) {
  const auto header = value_in<ifinfomsg>(message);
  if (!header) return;
  for (const Attribute& attribute : attributes_in(message.substr(aligned(sizeof *header)))) {
    if (attribute.type != IFLA_IFNAME) continue;
    const std::string_view name = attribute.bytes;
    out.push_back(
        {.name = std::string(name.substr(0, name.find('\0'))), .index = header->ifi_index});
  }
}

}  // namespace

Result<std::vector<Link>> list_links(const sys::NetNs& target) {
  MNET_TRY(auto&& netlink, Netlink::open_in(target));
  std::vector<Link> links;
  Result<void> listed;
  for (int i = 0; i < kTries; ++i) {
    links.clear();
    listed = netlink.dump(RTM_GETLINK, header_of(0, 0, 0),
                          [&links](std::string_view message) { take_link(message, links); });
    if (listed || listed.error().code() != Errc::kUnavailable) break;
  }
  if (!listed) return std::move(listed).error().wrap("listing links");
  return links;
}

Result<void> rename_link(const sys::NetNs& target, int index, const std::string& name) {
  MNET_TRY(auto&& netlink, Netlink::open_in(target));
  // Most kernels rename no link that is up.
  MNET_TRY_VOID(netlink.ask(RTM_NEWLINK, 0, header_of(index, 0, IFF_UP)));
  std::string message = header_of(index, 0, 0);
  append_attribute(message, IFLA_IFNAME, std::string_view(name.c_str(), name.size() + 1));
  auto renamed = netlink.ask(RTM_NEWLINK, 0, message);
  if (!renamed) return std::move(renamed).error().wrap(cat("renaming a link to ", name));
  return {};
}

}  // namespace mnet::rtnl
