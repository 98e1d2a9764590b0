// What kube-watch does (04, 2): follows objects or a file, picks a value out of each, and lets a
// handler deal with every new one.
#pragma once

#include <string>
#include <vector>

#include "kube_watch/command.h"

namespace mnet::kube_watch {

// The whole program; yields its exit status. Takes the signals over and ends by them.
int run_program(const std::vector<std::string>& words);

}  // namespace mnet::kube_watch
