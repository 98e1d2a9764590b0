// Says what a command will do and asks whether to do it.
#pragma once

#include <string_view>

#include "multusctl/commands.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

// True with --yes, or if the user types y or yes. Without a terminal to ask at, false and a
// complaint that names --yes.
bool agrees(const Invocation& invocation, Surroundings& surroundings, std::string_view plan);

}  // namespace mnet::multusctl
