// The keys of a configuration that say how its program logs (02, section 9); the daemon and thin
// multus have the same.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/log_options.h"
#include "json/fields.h"

namespace mnet::settings {

struct LogSettings {
  std::string log_file, log_level;
  std::optional<bool> log_to_stderr;  // what absence means differs from program to program
  std::optional<LogOptions> log_options;
  LogFormat log_format = LogFormat::kText;
};

// The level of `logLevel`. A missing or unknown level means panic; an unknown one adds a line for
// standard error to `complaints`.
LogLevel level_of(const LogSettings& settings, std::vector<std::string>& complaints);

// A wrong type or value is noted in `fields`, by its key.
void read_log_settings(json::Fields& fields, LogSettings& settings);

}  // namespace mnet::settings
