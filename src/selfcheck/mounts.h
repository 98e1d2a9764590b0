// What the daemon's container sees of the host's mounts. Pure: works on the text of
// /proc/self/mountinfo.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "selfcheck/finding.h"

namespace mnet::selfcheck {

struct Mount {
  std::string place;        // without the octal escapes of the kernel
  bool propagates = false;  // shared, or a slave: what the host mounts below it appears here, too
};
// In the kernel's order: later mounts cover earlier ones. Lines that cannot be read are left out.
std::vector<Mount> parse_mountinfo(std::string_view text);

// Each of `places` must be a mount of its own, or lie below one, that sees what the host mounts
// later: network namespaces and volumes are mounts. The root of the container is none.
Findings check_propagation(const std::vector<Mount>& mounts,
                           const std::vector<std::string>& places);

}  // namespace mnet::selfcheck
