// `multusctl pending`: shows, retries or gives up DELs that have not succeeded.
#pragma once

#include "multusctl/commands.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

int run_pending(const Invocation& invocation, Surroundings& surroundings);

}  // namespace mnet::multusctl
