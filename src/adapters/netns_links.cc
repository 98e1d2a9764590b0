#include "adapters/netns_links.h"

#include <string>
#include <utility>
#include <vector>

#include "adapters/pod_netns.h"
#include "aio/task.h"
#include "attach/ports.h"
#include "base/result.h"
#include "rtnl/rtnl.h"

namespace mnet::adapters {

Result<attach::TakenNames> find_taken_names(const std::string& mount_namespace,
                                            const std::string& netns,
                                            const std::vector<std::string>& ifnames) {
  auto target = open_pod_netns(mount_namespace, netns);
  if (!target) return std::move(target).error();
  auto taken = rtnl::find_links(*target, ifnames);
  if (!taken) return std::move(taken).error();
  return attach::TakenNames{.netns = target->id(), .taken = *std::move(taken)};
}

aio::Task<attach::TakenNames> NetNsLinks::look(std::string netns,
                                               std::vector<std::string> ifnames) {
  auto seen = co_await pool_.run(
      [mount_namespace = mount_namespace_, netns = std::move(netns), ifnames = std::move(ifnames)] {
        return find_taken_names(mount_namespace, netns, ifnames);
      });
  co_return seen;
}

}  // namespace mnet::adapters
