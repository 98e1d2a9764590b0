#include "daemon/logging.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/text.h"
#include "sys/log_file.h"

namespace mnet::daemon {

Logging make_logging(const Config& config) {
  Logging out;
  std::vector<std::shared_ptr<LogTarget>> targets;
  out.to_stderr = config.log_to_stderr.value_or(config.log_file.empty());
  if (!config.log_file.empty()) {
    auto file = sys::open_log_file(config.log_file);
    if (file) {
      targets.push_back(*std::move(file));
    } else {
      out.complaints.push_back(cat("multus logging: ", file.error().text()));
      // Better there than nowhere.
      out.to_stderr = true;
    }
  }
  if (out.to_stderr) targets.push_back(stderr_target());

  LogLevel level = LogLevel::kPanic;
  if (const auto wanted = parse_log_level(config.log_level)) {
    level = *wanted;
  } else if (!config.log_level.empty()) {
    out.complaints.push_back(cat("multus logging: cannot set logging level to ", config.log_level));
  }
  out.log = Log(std::move(targets), level, config.log_format);
  return out;
}

}  // namespace mnet::daemon
