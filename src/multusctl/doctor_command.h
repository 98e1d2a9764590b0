// `multusctl doctor`: checks Multus in a cluster or on this node, and says what to do.
#pragma once

#include <vector>

#include "base/result.h"
#include "multusctl/commands.h"
#include "multusctl/doctor.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

// The checks of a cluster.
Result<std::vector<Check>> examine(const Invocation& invocation, const Surroundings& surroundings);

}  // namespace mnet::multusctl
