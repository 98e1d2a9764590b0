// `multusctl bundle`: what a maintainer needs to see, in one archive.
#pragma once

#include "multusctl/commands.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

int run_bundle(const Invocation& invocation, Surroundings& surroundings);

}  // namespace mnet::multusctl
