// The level of a program's log, as its configuration names it (02, 9).
#pragma once

#include <string>
#include <string_view>

#include "base/log.h"
#include "base/text.h"

namespace mnet {

// The level called `name`; panic if the name is empty or unknown. For an unknown name `complaint`
// is set to a line for standard error.
inline LogLevel choose_log_level(std::string_view name, std::string& complaint) {
  if (const auto level = parse_log_level(name)) return *level;
  if (!name.empty()) complaint = cat("multus logging: cannot set logging level to ", name);
  return LogLevel::kPanic;
}

}  // namespace mnet
