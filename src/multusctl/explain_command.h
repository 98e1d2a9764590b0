// `multusctl explain`: what would be attached to a pod, and why; nothing is attached.
#pragma once

#include "multusctl/commands.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

int run_explain(const Invocation& invocation, Surroundings& surroundings);

}  // namespace mnet::multusctl
