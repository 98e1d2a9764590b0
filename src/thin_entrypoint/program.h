// What thin_entrypoint does: installs the thin multus of a node and keeps it (03, 9.2).
#pragma once

#include <string>
#include <vector>

namespace mnet::thin_entrypoint {

// The whole program; yields its exit status. Takes the signals over and ends by them.
int run_program(const std::vector<std::string>& words);

}  // namespace mnet::thin_entrypoint
