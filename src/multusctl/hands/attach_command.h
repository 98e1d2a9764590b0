// `multusctl attach` and `detach`: one network more or less for a pod that runs.
#pragma once

#include "multusctl/commands.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

int run_attach(const Invocation& invocation, Surroundings& surroundings);
int run_detach(const Invocation& invocation, Surroundings& surroundings);

}  // namespace mnet::multusctl
