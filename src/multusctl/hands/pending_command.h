// `multusctl pending`: DELs that did not succeed, shown, repeated or given up.
#pragma once

#include "multusctl/commands.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

int run_pending(const Invocation& invocation, Surroundings& surroundings);

}  // namespace mnet::multusctl
