// The daemon's log, made once from its configuration (02, section 9; 03, 2.13).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "daemon/config.h"
#include "daemon/status.h"

namespace mnet::daemon {

struct Logging {
  Log log;
  bool to_stderr = false;
  // What went wrong while it was made, for standard error: `multus logging: cannot set logging
  // level to <x>`.
  std::vector<std::string> complaints;
  std::shared_ptr<LastErrors> last_errors;
};

// To stderr unless `logToStderr` is false, whether there is a `logFile` or not. The file is rotated
// as `logOptions` says; that it cannot be written is reported once, on stderr.
Logging make_logging(const Config& config);

}  // namespace mnet::daemon
