// What a runtime asks a plugin with VERSION and what it makes of the outcome (01, 7.6). Who runs
// the plugin is not its business.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace mnet::cni {

// The plugin's stdin.
std::string version_request();

// The versions that a plugin supports, from its stdout or its failure: one so old that it does not
// know the command supports 0.1.0 alone; any other failure is passed on.
Result<std::vector<std::string>> read_version_outcome(Result<std::string> outcome);

}  // namespace mnet::cni
