#include "adapters/pod_netns.h"

#include <string>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/mount_namespace.h"
#include "sys/netns.h"

namespace mnet::adapters {
namespace {

Result<sys::NetNs> open_there(const std::string& mount_namespace, const std::string& path) {
  if (mount_namespace.empty()) return sys::NetNs::open(path);
  Result<sys::NetNs> opened;
  MNET_TRY_VOID(
      sys::look_in_mount_namespace(mount_namespace, [&] { opened = sys::NetNs::open(path); }));
  return opened;
}

}  // namespace

Result<sys::NetNs> open_pod_netns(const std::string& mount_namespace, const std::string& path) {
  auto opened = open_there(mount_namespace, path);
  if (!opened) return std::move(opened).error().wrap(cat("no net namespace ", path, " found"));
  return opened;
}

}  // namespace mnet::adapters
