// `multusctl test`: tests a network between pods that it creates and deletes.
#pragma once

#include "multusctl/commands.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

int run_test(const Invocation& invocation, Surroundings& surroundings);

}  // namespace mnet::multusctl
