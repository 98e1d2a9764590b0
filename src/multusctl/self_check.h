// The checks of one node: `multus-daemon -check`, where that program is installed, and a CHECK of
// every attachment by the node's daemon.
#pragma once

#include <vector>

#include "multusctl/commands.h"
#include "multusctl/doctor.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

// On this machine, as root.
std::vector<Check> check_this_node(const Invocation& invocation, const Surroundings& surroundings);

}  // namespace mnet::multusctl
