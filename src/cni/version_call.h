// The request VERSION to a plugin, and the meaning of its outcome (01, 7.6). Does not run the
// plugin.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace mnet::cni {

// The plugin's stdin.
std::string version_request();

// The versions that a plugin supports, from its stdout or its failure. A plugin so old that it does
// not know the command supports only 0.1.0; any other failure is passed on.
Result<std::vector<std::string>> read_version_outcome(Result<std::string> outcome);

}  // namespace mnet::cni
