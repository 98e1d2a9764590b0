// The program thin_entrypoint: installs the thin multus on a node and keeps its files current
// (03, 9.2).
#pragma once

#include <string>
#include <vector>

namespace mnet::thin_entrypoint {

// The whole program; yields its exit status. SIGINT or SIGTERM ends it.
int run_program(const std::vector<std::string>& words);

}  // namespace mnet::thin_entrypoint
