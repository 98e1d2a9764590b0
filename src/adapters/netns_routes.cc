#include "adapters/netns_routes.h"

#include <string>
#include <utility>
#include <vector>

#include "adapters/pod_netns.h"
#include "aio/task.h"
#include "base/address_family.h"
#include "base/result.h"
#include "base/try.h"
#include "cni/address.h"
#include "rtnl/rtnl.h"

namespace mnet::adapters {
aio::Task<bool> NetNsRoutes::has_default(std::string netns, std::string ifname,
                                         AddressFamily family) {
  return pool_.run([mount_namespace = mount_namespace_, netns = std::move(netns),
                    ifname = std::move(ifname), family]() -> Result<bool> {
    MNET_TRY(auto&& target, open_pod_netns(mount_namespace, netns));
    return rtnl::has_default_route(target, ifname, family);
  });
}

aio::Task<void> NetNsRoutes::remove_defaults(std::string netns, std::string ifname,
                                             AddressFamily family) {
  return pool_.run([mount_namespace = mount_namespace_, netns = std::move(netns),
                    ifname = std::move(ifname), family]() -> Result<void> {
    MNET_TRY(auto&& target, open_pod_netns(mount_namespace, netns));
    return rtnl::remove_default_routes(target, ifname, family);
  });
}

aio::Task<void> NetNsRoutes::add_default(std::string netns, std::string ifname,
                                         cni::IpAddress gateway,
                                         std::vector<std::string> own_ifnames) {
  return pool_.run([mount_namespace = mount_namespace_, netns = std::move(netns),
                    ifname = std::move(ifname), gateway = gateway.text(),
                    own_ifnames = std::move(own_ifnames)]() -> Result<void> {
    MNET_TRY(auto&& target, open_pod_netns(mount_namespace, netns));
    return rtnl::add_default_route(target, ifname, gateway, own_ifnames);
  });
}

}  // namespace mnet::adapters
