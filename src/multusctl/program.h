// What multusctl does between its command line and its exit status.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mnet::multusctl {

// Whether a program that was started as `path` is to be multusctl: it may share its file with
// another (decision 0057).
bool is_own_name(std::string_view path);

// The whole program; yields its exit status: 0, 1 (it failed, or found errors), 2 (the command line
// is wrong). `path` is what it was started as: under the name kubectl-multus it calls itself
// `kubectl multus`.
int run_program(std::string_view path, const std::vector<std::string>& words);

}  // namespace mnet::multusctl
