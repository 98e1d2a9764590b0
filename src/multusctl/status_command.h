// `multusctl status`: on a node from the daemon's socket, from outside through the API by an exec
// in each daemon's pod.
#pragma once

#include "multusctl/commands.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

int run_status(const Invocation& invocation, Surroundings& surroundings);

}  // namespace mnet::multusctl
