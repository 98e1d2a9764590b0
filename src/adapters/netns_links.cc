#include "adapters/netns_links.h"

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "rtnl/rtnl.h"
#include "sys/mount_namespace.h"
#include "sys/netns.h"

namespace mnet::adapters {
namespace {

Result<sys::NetNs> open_there(const std::string& mount_namespace, const std::string& path) {
  if (mount_namespace.empty()) return sys::NetNs::open(path);
  Result<sys::NetNs> opened;
  auto looked =
      sys::look_in_mount_namespace(mount_namespace, [&] { opened = sys::NetNs::open(path); });
  if (!looked) return std::move(looked).error();
  return opened;
}

Result<attach::Look> look_in(const std::string& mount_namespace, const std::string& netns,
                             const std::vector<std::string>& ifnames) {
  auto target = open_there(mount_namespace, netns);
  if (!target) {
    return std::move(target).error().wrap(cat("no net namespace ", netns, " found"));
  }
  auto taken = rtnl::find_links(*target, ifnames);
  if (!taken) return std::move(taken).error();
  return attach::Look{.netns = {.device = target->id().device, .inode = target->id().inode},
                      .taken = *std::move(taken)};
}

}  // namespace

aio::Task<attach::Look> NetNsLinks::look(std::string netns, std::vector<std::string> ifnames) {
  auto seen = co_await pool_.run(
      [mount_namespace = mount_namespace_, netns = std::move(netns), ifnames = std::move(ifnames)] {
        return look_in(mount_namespace, netns, ifnames);
      });
  co_return seen;
}

}  // namespace mnet::adapters
