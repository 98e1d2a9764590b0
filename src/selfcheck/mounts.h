// What the daemon's container sees of the host's mounts. Pure.
#pragma once

#include <string>
#include <vector>

#include "selfcheck/finding.h"
#include "sys/mountinfo.h"

namespace mnet::selfcheck {

// Each of `places` must be, or lie below, a mount of its own that shows what the host mounts later:
// network namespaces and volumes are mounts. The container's root does not count.
Findings check_propagation(const std::vector<sys::Mount>& mounts,
                           const std::vector<std::string>& places);

}  // namespace mnet::selfcheck
