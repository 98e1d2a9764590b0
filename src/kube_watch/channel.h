// The files through which kube-watch and its handler exchange values (04, 2.5): the channel with
// the new value while a handler runs, and beside it `.prev` with the last one that was handled,
// `.tried` with those that were begun since, and `.of`, which says what they are values of.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "sys/file_lock.h"

namespace mnet::kube_watch {

class Channel {
 public:
  // Makes the folder (0755) and an empty channel (0644), and has it to itself until it is
  // destroyed; none if another process has it. What is there of an earlier run is kept only if that
  // was a run for the same `subject`, or if nothing says for what.
  static Result<std::optional<Channel>> make(std::string path, const std::string& subject);

  const std::string& path() const { return path_; }
  // What the channel had been used for before; empty unless that was dropped.
  const std::string& dropped() const { return dropped_; }

  // Of an earlier run; empty if there was none.
  Result<std::string> load_previous() const;

  // For the time of a handler.
  Result<void> begin(const std::string& value, const std::string& previous) const;
  // After its success.
  Result<void> finish(const std::string& value) const;

 private:
  Channel(std::string path, sys::FileLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  Result<void> claim(const std::string& subject);
  Result<void> keep_previous(const std::string& value) const;
  Result<void> note_try(const std::string& value) const;

  std::string path_;
  sys::FileLock lock_;
  std::string dropped_;
};

}  // namespace mnet::kube_watch
