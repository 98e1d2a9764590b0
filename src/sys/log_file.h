// A file as a target of log lines. Rotation is not done here.
#pragma once

#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"

namespace mnet::sys {

// Appends to `path`, which is made with mode 0600 if it is missing; its directory is not made. The
// error says why a file cannot be written, and the caller goes on without it. One line is one
// write; a line that cannot be written is lost silently.
Result<std::shared_ptr<LogTarget>> open_log_file(const std::string& path);

}  // namespace mnet::sys
