// What cni-node does: installs CNI plugins, configurations and Kubernetes objects on a node (04,
// 1).
#pragma once

#include <string>
#include <vector>

namespace mnet::cni_node {

// The whole program; yields its exit status. Takes the signals over and ends by them.
int run_program(const std::vector<std::string>& words);

}  // namespace mnet::cni_node
