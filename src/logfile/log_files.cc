#include "logfile/log_files.h"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "logfile/rotating_file.h"
#include "logfile/rotation.h"
#include "logfile/surroundings.h"

namespace mnet::logfile {
namespace {

// Requests bring paths, too: what is remembered of them must not grow without bound.
constexpr std::size_t kMostUnused = 64;

Surroundings with_defaults(Surroundings around) {
  if (!around.report) {
    around.report = [log = Log({stderr_target()}, LogLevel::kError)](const std::string& message) {
      log.error(message);
    };
  }
  if (!around.background) {
    around.background = [](const std::function<void()>& job) {
      job();
      return true;
    };
  }
  return around;
}

}  // namespace

LogFiles::LogFiles(Surroundings around) : around_(with_defaults(std::move(around))) {}
LogFiles::~LogFiles() = default;

std::shared_ptr<LogTarget> LogFiles::open(const std::string& path, const Rotation& rotation) {
  const std::string clean = clean_path(path);
  std::shared_ptr<RotatingFile> file;
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(clean);
    is_new = found == known_.end();
    if (is_new) forget_unused();
    Known& known = is_new ? known_[clean] : found->second;
    if (is_new) known.in_trouble = std::make_shared<std::atomic<bool>>(false);
    file = known.file.lock();
    if (file) return file;
    file = std::make_shared<RotatingFile>(clean, rotation, around_, known.in_trouble);
    known.file = file;
  }
  // An earlier run of the program may have left backups to tidy; later handles need not check
  // again.
  if (is_new) file->tidy();
  return file;
}

void LogFiles::forget_unused() {
  if (known_.size() < kMostUnused) return;
  std::erase_if(known_, [](const auto& entry) { return entry.second.file.expired(); });
}

}  // namespace mnet::logfile
