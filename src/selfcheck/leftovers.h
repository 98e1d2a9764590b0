// What earlier requests left behind and a person has to look at. Blocks.
#pragma once

#include <chrono>
#include <string>

#include "selfcheck/finding.h"

namespace mnet::selfcheck {

// `now`: compared with the times of files.
Findings check_leftovers(const std::string& cni_dir, std::chrono::system_clock::time_point now);

// Addresses that host-local, with its files in `ipam_dir`, keeps for containers of which `cni_dir`
// knows nothing, or for none. They are only reported, never freed: they may be another program's.
// `now`: as above.
Findings check_addresses(const std::string& ipam_dir, const std::string& cni_dir,
                         std::chrono::system_clock::time_point now);

}  // namespace mnet::selfcheck
