// The level of a program's log, as its configuration names it (02, 9).
#pragma once

#include <string>
#include <string_view>

#include "base/log.h"

namespace mnet {

// The level called `name`; panic if the name is empty or unknown. For an unknown name `complaint`
// is set to a line for standard error.
LogLevel choose_log_level(std::string_view name, std::string& complaint);

}  // namespace mnet
