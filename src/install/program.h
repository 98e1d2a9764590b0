// The program install_multus: copies the plugin programs to the host (03, 9.3).
#pragma once

#include <string>
#include <vector>

namespace mnet::install {

// The whole program; yields its exit status.
int run_program(const std::vector<std::string>& words);

}  // namespace mnet::install
