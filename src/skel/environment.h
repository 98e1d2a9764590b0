// The variables of a CNI call: which command needs which, and what is checked (01, 2.1).
#pragma once

#include <string>

#include "base/result.h"
#include "skel/skel.h"

namespace mnet::skel {

struct Environment {
  std::string command;
  CmdArgs args;  // without stdin
};

// In the order of the table: a value that does not pass its check ends the reading at once, what is
// missing is reported for all variables together. Errors carry code 4 (or 3).
Result<Environment> read_environment(const Front& front);

}  // namespace mnet::skel
