// When a log file is rotated and how many backups are kept: `logOptions` (02, 9).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mnet::logfile {

// As a configuration gives them.
struct Options {
  std::optional<std::int64_t> max_size;     // MiB; 0: the default
  std::optional<std::int64_t> max_backups;  // 0: all
  std::optional<std::int64_t> max_age;      // days; 0: no limit
  std::optional<bool> compress;
};

struct Rotation {
  std::uint64_t max_bytes = 100u << 20;  // of one file
  std::size_t max_backups = 5;           // 0: all
  std::chrono::hours max_age{5 * 24};    // 0: no limit
  bool compress = true;
};

// Absent and negative values get the default; each negative value adds a text to `warnings`.
Rotation rotation_of(const Options& options, std::vector<std::string>& warnings);

}  // namespace mnet::logfile
