// When a log file is rotated and how many backups are kept: `logOptions` (02, 9).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/log_options.h"

namespace mnet::logfile {

struct Rotation {
  std::uint64_t max_bytes = 100u << 20;  // of one file
  std::size_t max_backups = 5;           // 0: all
  std::chrono::hours max_age{5 * 24};    // 0: no limit
  bool compress = true;
};

// Absent and negative values get the default; each negative value adds a text to `warnings`.
Rotation rotation_of(const LogOptions& options, std::vector<std::string>& warnings);

}  // namespace mnet::logfile
