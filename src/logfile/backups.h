// What was put aside of one log file: `<base>-<UTC yyyy-mm-ddThh-mm-ss.mmm><ext>`, later `.gz`
// (02, 9). Knows nothing of the file that is written to.
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
  // The time in the name of a backup, compressed or not; none if it is something else's name.
  std::optional<Time> time_of(std::string_view name) const;
  // A path that nothing has, for a backup made at `time`: a later millisecond if that one is taken.
  std::string free_path(Time time) const;

 private:
  std::string directory_;  // "." if the path has none
  std::string base_, extension_;
};

// Removes what is too much or too old, compresses the rest if that is asked for. One that fails
// does not stop the others; the first error is returned. Not for the same log file twice at once.
Result<void> tidy(const BackupNames& names, const Rotation& rotation, Time now);

}  // namespace mnet::logfile
