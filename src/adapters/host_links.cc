#include "adapters/host_links.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/pod_netns.h"
#include "aio/task.h"
#include "attach/ports.h"
#include "base/error.h"
#include "base/result.h"
#include "sys/netns.h"

namespace mnet::adapters {
namespace {

bool is_in_proc(std::string_view path) { return path.starts_with("/proc/"); }

// Of both views' errors, the one that leaves more open.
Result<attach::TakenNames> look_twice(const std::string& mount_namespace, const std::string& root,
                                      const std::string& netns) {
  const auto here = open_pod_netns(mount_namespace, netns);
  if (here) return attach::TakenNames{.netns = here->id(), .taken = {}};
  if (root.empty() || !mount_namespace.empty() || is_in_proc(netns)) return here.error();
  const auto below = sys::NetNs::open_below(root, netns);
  if (below) return attach::TakenNames{.netns = below->id(), .taken = {}};
  return here.error().code() == Errc::kNotFound ? below.error() : here.error();
}

}  // namespace

aio::Task<attach::TakenNames> HostLinks::look(std::string netns, std::vector<std::string>) {
  return pool_.run([mount_namespace = mount_namespace_, root = root_, netns = std::move(netns)] {
    return look_twice(mount_namespace, root, netns);
  });
}

}  // namespace mnet::adapters
