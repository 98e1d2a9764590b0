// What the daemon's container sees of the host's mounts. Pure.
#pragma once

#include <string>
#include <vector>

#include "selfcheck/finding.h"
#include "sys/mountinfo.h"

namespace mnet::selfcheck {

// Each of `places` must be a mount of its own, or lie below one, that sees what the host mounts
// later: network namespaces and volumes are mounts. The root of the container is none.
Findings check_propagation(const std::vector<sys::Mount>& mounts,
                           const std::vector<std::string>& places);

}  // namespace mnet::selfcheck
