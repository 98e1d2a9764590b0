// Commands of multusctl in what it says, in the form that the user has to type.
#pragma once

#include <string>
#include <string_view>

#include "multusctl/invocation.h"

namespace mnet::multusctl {

// The text, with each `multusctl COMMAND ...` under the name that this program was called by. Where
// the user named the daemons' namespace, it is added for commands that ask daemons: without it they
// would ask those of another installation, or none.
std::string as_called(std::string_view text, const Invocation& invocation);

}  // namespace mnet::multusctl
