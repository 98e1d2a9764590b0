// What a configuration that can be read still gets wrong (03, 2.2): looked at once, at the start.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "settings/config.h"

namespace mnet::settings {

// With what it names no request could be served. The error names file and key.
Result<void> check_surroundings(const Config& config);

// What has no effect, or harms only itself: each begins with its key.
std::vector<std::string> config_warnings(const Config& config);

}  // namespace mnet::settings
