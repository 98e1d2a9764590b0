// The environment variables of a CNI call: which command requires which, and how they are checked
// (01, 2.1).
#pragma once

#include <string>

#include "base/result.h"
#include "skel/skel.h"

namespace mnet::skel {

struct Environment {
  std::string command;
  CmdArgs args;  // without stdin
};

// Reads the variables in the order of the table. An invalid value ends the reading at once; missing
// variables are reported together. Errors carry code 4 (or 3).
Result<Environment> read_environment(const Front& front);

}  // namespace mnet::skel
