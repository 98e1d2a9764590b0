// What surrounds the process, as values: its environment, and which run of the machine this is.
#pragma once

#include <string>
#include <vector>

namespace mnet::sys {

// A copy of what the process has now, `NAME=value` each, in its order.
std::vector<std::string> environment();

// Another one after each start of the machine; empty if the kernel does not tell.
std::string boot_id();

}  // namespace mnet::sys
