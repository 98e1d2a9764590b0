// `multusctl attach` and `detach`: add a network to a running pod, or remove one.
#pragma once

#include "multusctl/commands.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

int run_attach(const Invocation& invocation, Surroundings& surroundings);
int run_detach(const Invocation& invocation, Surroundings& surroundings);

}  // namespace mnet::multusctl
