// `multusctl doctor`: the cluster's parts of Multus, each good or bad with what to do.
#pragma once

#include "multusctl/commands.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

int run_doctor(const Invocation& invocation, Surroundings& surroundings);

}  // namespace mnet::multusctl
