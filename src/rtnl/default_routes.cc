#include <linux/netlink.h>
#include <linux/rtnetlink.h>  // IWYU pragma: keep  (RTM_*)

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/address_family.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "rtnl/netlink.h"
#include "rtnl/route.h"
#include "rtnl/rtnl.h"
#include "rtnl/socket.h"
#include "sys/netns.h"

namespace mnet::rtnl {
namespace {

// A list that changes while it is made is made again; a namespace that never rests is an error.
constexpr int kTries = 10;

// The metric that the kernel gives to a route without one.
std::uint32_t own_metric(AddressFamily family) { return family == AddressFamily::kV4 ? 0 : 1024; }

Result<std::vector<Route>> list_defaults(Netlink& netlink, AddressFamily family) {
  std::vector<Route> found;
  Result<void> listed;
  for (int i = 0; i < kTries; ++i) {
    found.clear();
    listed = netlink.dump(RTM_GETROUTE, all_routes(family), [&](std::string_view message) {
      auto route = parse_route(message);
      // A kernel without IPv6 lists the routes of other families instead.
      if (route && route->family == family && route->is_default()) {
        found.push_back(*std::move(route));
      }
    });
    if (listed || listed.error().code() != Errc::kUnavailable) break;
  }
  if (!listed) return std::move(listed).error().wrap("listing routes");
  return found;
}

Result<void> remove(Netlink& netlink, const std::string& deletion) {
  auto removed = netlink.ask(RTM_DELROUTE, 0, deletion);
  if (!removed && removed.error().os_errno() == ESRCH) return {};
  return removed;
}

// The default routes of `family` on `ifname`, with the socket to edit them; none if there is no
// such link.
struct Visit {
  Netlink netlink;
  int ifindex = 0;
  std::vector<Route> routes;
};
Result<Visit> visit(const sys::NetNs& target, const std::string& ifname, AddressFamily family) {
  MNET_TRY(auto&& netlink, Netlink::open_in(target));
  MNET_TRY(auto&& index, find_link_index(netlink.fd(), ifname));
  if (!index) return Visit{std::move(netlink), 0, {}};
  MNET_TRY(auto&& routes, list_defaults(netlink, family));
  std::erase_if(routes, [&](const Route& route) { return !route.is_on(*index); });
  return Visit{std::move(netlink), *index, std::move(routes)};
}

Result<std::vector<int>> indexes_of(const Netlink& netlink, const std::vector<std::string>& names) {
  std::vector<int> found;
  for (const std::string& name : names) {
    MNET_TRY(auto&& index, find_link_index(netlink.fd(), name));
    if (index) found.push_back(*index);
  }
  return found;
}

Result<void> add(Netlink& netlink, const Hop& hop) {
  return netlink.ask(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, default_route_via(hop));
}

bool is_exactly(const Route& route, const Hop& hop) {
  return route.hops.size() == 1 && route.hops.front() == hop;
}

bool is_only_on(const Route& route, const std::vector<int>& indexes) {
  return std::ranges::all_of(route.hops, [&](const Hop& hop) {
    return std::ranges::find(indexes, hop.ifindex) != indexes.end();
  });
}

// There is a default route of the same metric: success if it is this one; if it may be replaced, it
// is; otherwise `occupied`.
Result<void> add_beside(Netlink& netlink, const Hop& hop, const std::vector<int>& own,
                        Error occupied) {
  const AddressFamily family = family_of(hop.gateway);
  MNET_TRY(auto&& routes, list_defaults(netlink, family));
  std::erase_if(routes, [&](const Route& each) { return each.metric != own_metric(family); });
  if (std::ranges::any_of(routes, [&](const Route& each) { return is_exactly(each, hop); })) {
    return {};
  }
  std::erase_if(routes, [&](const Route& route) { return !is_only_on(route, own); });
  if (routes.empty()) return occupied;
  for (const Route& route : routes) {
    MNET_TRY_VOID(remove(netlink, route.deletion));
  }
  return add(netlink, hop);
}

}  // namespace

Result<bool> has_default_route(const sys::NetNs& target, const std::string& ifname,
                               AddressFamily family) {
  MNET_TRY(auto&& seen, visit(target, ifname, family));
  return !seen.routes.empty();
}

Result<void> remove_default_routes(const sys::NetNs& target, const std::string& ifname,
                                   AddressFamily family) {
  MNET_TRY(auto&& seen, visit(target, ifname, family));
  for (const Route& route : seen.routes) {
    auto removed = remove(seen.netlink, route.deletion_on(seen.ifindex));
    if (!removed) return std::move(removed).error().wrap(cat("removing one of ", ifname));
  }
  return {};
}

Result<void> add_default_route(const sys::NetNs& target, const std::string& ifname,
                               const std::string& gateway,
                               const std::vector<std::string>& own_ifnames) {
  auto address = address_bytes(gateway);
  if (!address) return Error(Errc::kInvalid, cat("not an address: ", go_quoted(gateway)));
  MNET_TRY(auto&& netlink, Netlink::open_in(target));
  MNET_TRY(auto&& index, find_link_index(netlink.fd(), ifname));
  if (!index) return Error(Errc::kNotFound, cat("no link ", go_quoted(ifname)));
  const Hop hop{.ifindex = *index, .gateway = *std::move(address)};
  auto added = add(netlink, hop);
  if (!added && added.error().os_errno() == EEXIST) {
    MNET_TRY(auto&& own, indexes_of(netlink, own_ifnames));
    own.push_back(hop.ifindex);
    added = add_beside(netlink, hop, own, std::move(added).error());
  }
  if (!added) return std::move(added).error().wrap(cat("via ", gateway, " on ", ifname));
  return {};
}

}  // namespace mnet::rtnl
