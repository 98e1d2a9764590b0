// What is wrong in a configuration that can be read (03, 2.2): looked at once, at the start.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "settings/config.h"
#include "sys/environment.h"

namespace mnet::settings {

// Finds faults that would fail every request, or that leave it unknown which pods belong to this
// node. The error names file and key.
Result<void> check_surroundings(const Config& config,
                                const std::vector<std::string>& environment = sys::environment());

// What has no effect, or harms only itself. Each warning begins with its key, or with the path of a
// file.
std::vector<std::string> config_warnings(const Config& config);
// Such a warning with the file that has the key.
std::string with_file(const Config& config, std::string_view warning);

}  // namespace mnet::settings
