#include "adapters/netns_links.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "adapters/pod_netns.h"
#include "aio/task.h"
#include "attach/ports.h"
#include "base/result.h"
#include "base/try.h"
#include "rtnl/rtnl.h"

namespace mnet::adapters {

Result<attach::TakenNames> find_taken_names(const std::string& mount_namespace,
                                            const std::string& netns,
                                            const std::vector<std::string>& ifnames) {
  MNET_TRY(auto&& target, open_pod_netns(mount_namespace, netns));
  MNET_TRY(auto&& taken, rtnl::find_links(target, ifnames));
  return attach::TakenNames{.netns = target.id(), .taken = std::move(taken)};
}

aio::Task<attach::TakenNames> NetNsLinks::look(std::string netns,
                                               std::vector<std::string> ifnames) {
  co_return co_await pool_.run(
      [mount_namespace = mount_namespace_, netns = std::move(netns), ifnames = std::move(ifnames)] {
        return find_taken_names(mount_namespace, netns, ifnames);
      });
}

aio::Task<std::vector<attach::Link>> NetNsLinks::list(std::string netns) {
  co_return co_await pool_.run([mount_namespace = mount_namespace_,
                                netns = std::move(netns)]() -> Result<std::vector<attach::Link>> {
    MNET_TRY(auto&& target, open_pod_netns(mount_namespace, netns));
    MNET_TRY(auto&& found, rtnl::list_links(target));
    std::vector<attach::Link> links;
    links.reserve(found.size());
    for (rtnl::Link& one : found) {
      links.push_back(
          {.name = std::move(one.name), .index = static_cast<std::uint64_t>(one.index)});
    }
    return links;
  });
}

aio::Task<void> NetNsLinks::rename(std::string netns, std::uint64_t index, std::string name) {
  co_return co_await pool_.run([mount_namespace = mount_namespace_, netns = std::move(netns), index,
                                name = std::move(name)]() -> Result<void> {
    MNET_TRY(auto&& target, open_pod_netns(mount_namespace, netns));
    return rtnl::rename_link(target, static_cast<int>(index), name);
  });
}

}  // namespace mnet::adapters
