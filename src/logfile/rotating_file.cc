#include "logfile/rotating_file.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "logfile/backups.h"
#include "logfile/rotation.h"
#include "logfile/surroundings.h"
#include "sys/append_file.h"
#include "sys/file.h"

namespace mnet::logfile {

Tidier::Tidier(const std::string& path, const Rotation& rotation, Surroundings around)
    : names_(path), rotation_(rotation), around_(std::move(around)) {}

void Tidier::start() {
  {
    const std::lock_guard lock(mutex_);
    again_ = true;
    if (runs_) return;
    runs_ = true;
  }
  if (around_.background([self = shared_from_this()] { self->run(); })) return;
  const std::lock_guard lock(mutex_);
  runs_ = false;
}

void Tidier::run() {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (!again_) {
        runs_ = false;
        return;
      }
      again_ = false;
    }
    const auto done = logfile::tidy(names_, rotation_, around_.clock->now());
    if (!done) around_.report(cat("old log files: ", done.error().text()));
  }
}

RotatingFile::RotatingFile(std::string path, const Rotation& rotation, Surroundings around,
                           std::shared_ptr<std::atomic<bool>> in_trouble)
    : path_(std::move(path)),
      rotation_(rotation),
      around_(std::move(around)),
      in_trouble_(std::move(in_trouble)),
      tidier_(std::make_shared<Tidier>(path_, rotation_, around_)) {}

void RotatingFile::write(std::string_view line) {
  Outcome outcome;
  {
    const std::lock_guard lock(mutex_);
    outcome = write_locked(line);
  }
  // Outside the lock: the receiver of a report, here and while tidying, may write a line to a log
  // that has this file among its targets.
  const bool had_trouble = in_trouble_->exchange(!outcome.written);
  if (!outcome.written && !had_trouble) {
    around_.report(cat("log file: ", outcome.written.error().text()));
  }
  if (outcome.rotated) tidier_->start();
}

RotatingFile::Outcome RotatingFile::write_locked(std::string_view line) {
  auto size = open_if_needed();
  if (!size) return {std::move(size).error()};
  auto rotated = rotate_if_full(*size, line.size());
  auto appended = file_->append(line);
  if (!appended) return {std::move(appended), rotated.value_or(false)};
  if (!rotated) return {std::move(rotated).error()};
  return {{}, *rotated};
}

Result<std::uint64_t> RotatingFile::open_if_needed() {
  // Another process may have moved or removed it; lines written to such a file are lost.
  auto size = file_ != nullptr ? file_->size() : std::nullopt;
  if (size) return *size;
  file_.reset();
  MNET_TRY_VOID(sys::make_directories(sys::directory_of(path_), 0755));
  MNET_TRY(auto&& file, sys::AppendFile::open(path_, 0600));
  file_ = std::make_unique<sys::AppendFile>(std::move(file));
  return file_->size().value_or(0);
}

Result<bool> RotatingFile::rotate_if_full(std::uint64_t size, std::size_t more) {
  // A line that is larger than a whole file still gets one.
  if (size == 0 || size + more <= rotation_.max_bytes) return false;
  MNET_TRY_VOID(file_->put_aside(tidier_->names().free_path(around_.clock->now())));
  return true;
}

}  // namespace mnet::logfile
