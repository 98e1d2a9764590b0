// What earlier requests left behind and a person has to look at. Blocks.
#pragma once

#include <chrono>
#include <string>

#include "selfcheck/finding.h"

namespace mnet::selfcheck {

// `now`: compared with the times of files.
Findings check_leftovers(const std::string& cni_dir, std::chrono::system_clock::time_point now);

}  // namespace mnet::selfcheck
