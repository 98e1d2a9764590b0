// What multus-daemon does, from its command line to its exit status (03, 2).
#pragma once

#include <string>
#include <vector>

namespace mnet::daemon {

// The whole program; yields its exit status. Takes the signals over and ends by them.
int run_program(const std::vector<std::string>& words);

}  // namespace mnet::daemon
