// `multusctl pods`: the networks that pods asked for against those that they got, from the API
// alone.
#pragma once

#include "multusctl/commands.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

int run_pods(const Invocation& invocation, Surroundings& surroundings);

}  // namespace mnet::multusctl
