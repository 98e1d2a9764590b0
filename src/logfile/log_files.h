// Log files with rotation (02, 9): renamed when full, old ones compressed and removed. Not for the
// shim, which appends to what is there (sys/log_file.h).
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

// One per program. May be used from several threads, and so may the targets, which may outlive it.
class LogFiles {
 public:
  explicit LogFiles(Surroundings around = {});
  ~LogFiles();
  LogFiles(const LogFiles&) = delete;
  LogFiles& operator=(const LogFiles&) = delete;

  // The target of that path: one file and one descriptor, however many hold it, closed when the
  // last one lets go. Its rotation is that of the first holder. Never fails: the file is opened
  // with the first line (made with mode 0600, directories with 0755), and lines that cannot be
  // written are lost. What is no regular file is never rotated.
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
