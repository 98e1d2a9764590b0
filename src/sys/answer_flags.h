// The part of a command line that every program answers alike: help, the version, and faults.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/pflags.h"

namespace mnet::sys {

// Parses `words`. The exit status if that is all there is to do: help and faults go to
// standard error, the version of `program` on standard output. `wants_version` is the variable of
// --version.
std::optional<int> answer_flags(PFlags& flags, const bool& wants_version, std::string_view program,
                                const std::vector<std::string>& words);

}  // namespace mnet::sys
