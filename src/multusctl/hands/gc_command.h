// `multusctl gc`: runs the daemons' reconcile now.
#pragma once

#include "multusctl/commands.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

int run_gc(const Invocation& invocation, Surroundings& surroundings);

}  // namespace mnet::multusctl
