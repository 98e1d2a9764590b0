// `multusctl lint`: reads files, directories, standard input or the cluster's objects, and prints
// what is wrong with them (src/lint).
#pragma once

#include "multusctl/commands.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

int run_lint(const Invocation& invocation, Surroundings& surroundings);

}  // namespace mnet::multusctl
