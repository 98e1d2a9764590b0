// Log files with rotation (02, 9): renamed when full; old ones are compressed and later removed.
// Not for the shim, which only appends (sys/log_file.h).
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/log.h"
#include "logfile/rotation.h"
#include "logfile/surroundings.h"

namespace mnet::logfile {

class RotatingFile;

// One per program. It and its targets may be used from several threads; the targets may outlive it.
class LogFiles {
 public:
  explicit LogFiles(Surroundings around = {});
  ~LogFiles();
  LogFiles(const LogFiles&) = delete;
  LogFiles& operator=(const LogFiles&) = delete;

  // The target for that path: all callers share one file and one descriptor, closed when the last
  // of them releases its target. The rotation of the first caller counts. Never fails: the file is
  // opened with the first line (created with mode 0600, directories with 0755), and lines that
  // cannot be written are lost. A file that is not regular is never rotated.
  std::shared_ptr<LogTarget> open(const std::string& path, const Rotation& rotation = {});

 private:
  struct Known {
    std::weak_ptr<RotatingFile> file;
    std::shared_ptr<std::atomic<bool>> in_trouble;
  };
  void forget_unused();

  const Surroundings around_;  // complete
  std::mutex mutex_;
  std::map<std::string, Known> known_;  // by clean path
};

}  // namespace mnet::logfile
