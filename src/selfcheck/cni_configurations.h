// What the container runtime finds in its directory of CNI configurations: it takes the first file
// in byte order, which must be ours. Blocks.
#pragma once

#include "nodeconf/restore.h"
#include "selfcheck/finding.h"

namespace mnet::selfcheck {

// Our own file need not exist yet.
Findings check_cni_configurations(const nodeconf::RestoreOptions& where);

}  // namespace mnet::selfcheck
