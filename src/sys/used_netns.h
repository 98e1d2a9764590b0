// Which network namespaces processes are in. Knows nothing of pods.
#pragma once

#include <cstdint>
#include <set>

#include "base/result.h"

namespace mnet::sys {

// Inodes of the network namespaces of all processes that /proc shows, but the first one. A
// namespace that only a file, a descriptor or a single thread holds is not among them. An error if
// a process may not be looked at: then a namespace that is missing here may be in use.
Result<std::set<std::uint64_t>> list_used_netns();

}  // namespace mnet::sys
