// One log file with its rotation. Internal: programs get theirs from LogFiles.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/result.h"
#include "logfile/backups.h"
#include "logfile/rotation.h"
#include "logfile/surroundings.h"
#include "sys/append_file.h"

namespace mnet::logfile {

// Removes and compresses backups, one run at a time. Outlives the file while a run is due.
class Tidier : public std::enable_shared_from_this<Tidier> {
 public:
  Tidier(const std::string& path, const Rotation& rotation, Surroundings around);
  // If a run is already under way, another one follows it.
  void start();
  const BackupNames& names() const { return names_; }

 private:
  void run();

  const BackupNames names_;
  const Rotation rotation_;
  const Surroundings around_;
  std::mutex mutex_;
  bool runs_ = false, again_ = false;
};

class RotatingFile final : public LogTarget {
 public:
  // All members of `around` must be set. `in_trouble` outlives the file: trouble is reported when
  // it becomes true, not for every line, and not again by the next object for the same path.
  RotatingFile(std::string path, const Rotation& rotation, Surroundings around,
               std::shared_ptr<std::atomic<bool>> in_trouble);

  void write(std::string_view line) override;
  void tidy() { tidier_->start(); }

 private:
  struct Outcome {
    Result<void> written;
    bool rotated = false;
  };
  Outcome write_locked(std::string_view line);
  // Yields the size of the file.
  Result<std::uint64_t> open_if_needed();
  // Yields whether it was rotated.
  Result<bool> rotate_if_full(std::uint64_t size, std::size_t more);

  const std::string path_;
  const Rotation rotation_;
  const Surroundings around_;
  const std::shared_ptr<std::atomic<bool>> in_trouble_;
  const std::shared_ptr<Tidier> tidier_;
  std::mutex mutex_;
  std::unique_ptr<sys::AppendFile> file_;  // nullptr: not open
};

}  // namespace mnet::logfile
