// Opening a pod's network namespace by the path that the runtime gave. Internal to adapters.
#pragma once

#include <string>

#include "base/result.h"
#include "sys/netns.h"

namespace mnet::adapters {

// `mount_namespace`: where the path is looked up; empty: here (03, 7). Blocking. The error begins
// with `no net namespace <path> found`.
Result<sys::NetNs> open_pod_netns(const std::string& mount_namespace, const std::string& path);

}  // namespace mnet::adapters
