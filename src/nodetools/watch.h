// What kube-watch does (04, 2): follows objects or a file, picks a value out of each, and lets a
// handler deal with every new one.
#pragma once

#include <string>
#include <vector>

#include "nodetools/watch_command.h"

namespace mnet::nodetools {

// The whole program; yields its exit status. Takes the signals over and ends by them.
int run_kube_watch(const std::vector<std::string>& words);

}  // namespace mnet::nodetools
