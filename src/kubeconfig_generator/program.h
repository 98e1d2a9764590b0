// The program kubeconfig_generator: keeps a client certificate of the node and a kubeconfig that
// uses it current, for programs that cannot do that themselves (03, 9.3).
#pragma once

#include <string>
#include <vector>

namespace mnet::kubeconfig_generator {

// The whole program; yields its exit status. SIGINT or SIGTERM ends it.
int run_program(const std::vector<std::string>& words);

}  // namespace mnet::kubeconfig_generator
