// The backups of a log file: `<base>-<UTC yyyy-mm-ddThh-mm-ss.mmm><ext>`, with `.gz` once they are
// compressed (02, 9). Knows nothing of the file that is being written.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "logfile/rotation.h"

namespace mnet::logfile {

using Time = std::chrono::system_clock::time_point;

// The names of one log file's backups, all in its own directory.
class BackupNames {
 public:
  explicit BackupNames(const std::string& log_path);

  const std::string& directory() const { return directory_; }
  std::string name_at(Time time) const;
  // The time in the name of a backup, compressed or not; none if this is not a backup's name.
  std::optional<Time> time_of(std::string_view name) const;
  // A path that does not exist yet, for a backup made at `time`: with a later millisecond if that
  // name is taken.
  std::string free_path(Time time) const;

 private:
  std::string directory_;  // "." if the path has none
  std::string base_, extension_;
};

// Removes backups that are too many or too old, and compresses the rest if `rotation` says so. A
// failure does not stop the work on the others; the first error is returned. Must not run twice at
// once for the same log file.
Result<void> tidy(const BackupNames& names, const Rotation& rotation, Time now);

}  // namespace mnet::logfile
