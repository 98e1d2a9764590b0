#include "base/log_level.h"

#include <string>
#include <string_view>

#include "base/log.h"
#include "base/text.h"

namespace mnet {

LogLevel choose_log_level(std::string_view name, std::string& complaint) {
  if (const auto level = parse_log_level(name)) return *level;
  if (!name.empty()) complaint = cat("multus logging: cannot set logging level to ", name);
  return LogLevel::kPanic;
}

}  // namespace mnet
