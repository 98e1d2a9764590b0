// The process's environment as a value.
#pragma once

#include <string>
#include <vector>

namespace mnet::sys {

// A copy of what the process has now, `NAME=value` each, in its order.
std::vector<std::string> environment();

}  // namespace mnet::sys
