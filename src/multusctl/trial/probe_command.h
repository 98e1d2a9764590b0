// `multusctl probe`: the two ends of `multusctl test`.
#pragma once

#include "multusctl/commands.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

int run_probe(const Invocation& invocation, Surroundings& surroundings);

}  // namespace mnet::multusctl
