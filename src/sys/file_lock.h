// Locks between processes, given back by the kernel when their holder dies.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "sys/fd.h"

namespace mnet::sys {

// Held until it is destroyed. Movable; an empty one holds nothing. Calls block until they have the
// lock, unless they say otherwise.
class FileLock {
 public:
  FileLock() = default;
  FileLock(FileLock&& other) noexcept
      : fd_(std::move(other.fd_)),
        path_(std::exchange(other.path_, {})),
        was_left_(other.was_left_) {}
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock() { release(); }

  // On a file that is made for it (mode 0600) and removed when the lock is given back: nothing is
  // left but what a killed holder leaves, and that does no harm. Its directory must exist.
  static Result<FileLock> take_file(const std::string& path);
  // The same without waiting; none if another process has it.
  static Result<std::optional<FileLock>> try_file(const std::string& path);

  enum class Kind : std::uint8_t { kShared, kExclusive };
  // On a directory that exists; nothing is made.
  static Result<FileLock> take_directory(const std::string& path, Kind kind);

  // kTimeout if it takes longer than this, kCancelled once `stops` says so: it is asked again and
  // again while another process has the lock.
  using Stops = std::function<bool()>;
  static Result<FileLock> take_file_within(const std::string& path,
                                           std::chrono::milliseconds patience,
                                           const Stops& stops = {});
  // On an open directory, exclusively; `path` is for messages.
  static Result<FileLock> take_directory_within(UniqueFd directory, const std::string& path,
                                                std::chrono::milliseconds patience,
                                                const Stops& stops = {});

  explicit operator bool() const { return static_cast<bool>(fd_); }
  // Of try_file(): the file was there, so that its last holder was killed. (Now and then said of
  // one that another process was about to lock.)
  bool was_left() const { return was_left_; }
  void release();

 private:
  FileLock(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  UniqueFd fd_;
  std::string path_;  // of the file to be removed
  bool was_left_ = false;
};

// Shows other processes that this one is there, for as long as this object exists: a shared lock on
// a directory, which nothing else notices.
class Presence {
 public:
  static Result<Presence> make(const std::string& directory);
  // Whether no other process has one of the same directory. An error if that is unknown.
  Result<bool> is_alone() const;

 private:
  Presence(UniqueFd fd, std::string directory)
      : fd_(std::move(fd)), directory_(std::move(directory)) {}

  UniqueFd fd_;
  std::string directory_;
};

}  // namespace mnet::sys
