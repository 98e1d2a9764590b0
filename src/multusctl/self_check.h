// The node's own checks: `multus-daemon -check` where that program is, and a CHECK of what is
// attached by its daemon.
#pragma once

#include <vector>

#include "multusctl/commands.h"
#include "multusctl/doctor.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

// On this machine, as root.
std::vector<Check> check_this_node(const Invocation& invocation, const Surroundings& surroundings);

}  // namespace mnet::multusctl
