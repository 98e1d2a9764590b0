// The level of a program's log, as its configuration names it (02, 9).
#pragma once

#include <string>
#include <string_view>

#include "base/log.h"

namespace mnet {

// The level called `name`; no name, or one that nobody knows, is panic. Of the latter `complaint`
// has a line for standard error.
LogLevel choose_log_level(std::string_view name, std::string& complaint);

}  // namespace mnet
