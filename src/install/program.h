// What install_multus does: copies the plugin programs onto the host (03, 9.3).
#pragma once

#include <string>
#include <vector>

namespace mnet::install {

// The whole program; yields its exit status.
int run_program(const std::vector<std::string>& words);

}  // namespace mnet::install
