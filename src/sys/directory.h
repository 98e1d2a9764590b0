// A directory held open. Its entries are named by one component and reached relative to it, so that
// no name leads elsewhere, even if the directory's path is replaced meanwhile.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "sys/fd.h"

namespace mnet::sys {

class Directory {
 public:
  static Result<Directory> open(const std::string& path);
  // mkdir -p first; directories that it makes get exactly `mode`.
  static Result<Directory> make(const std::string& path, mode_t mode);

  const std::string& path() const { return path_; }
  // Whether both are one directory, whatever their paths.
  bool is_same(const Directory& other) const;

  struct Content {
    std::string bytes;
    mode_t mode;  // permission bits
  };
  // A file's content, links followed; none if there is no such file. A directory, a FIFO, more than
  // `max_bytes`: errors.
  Result<std::optional<Content>> find(const std::string& name, std::size_t max_bytes) const;

  // Whether the entry itself, not a link, is a regular file of exactly these bytes and mode.
  bool holds(const std::string& name, std::string_view bytes, mode_t mode) const;

  // Written beside under `<prefix>.<name>.<random>`, synced, renamed over the entry itself, which
  // may be a link or a running program, but not a directory; then the directory is synced. The
  // temporary name is gone after any failure.
  Result<void> replace(const std::string& name, std::string_view bytes, mode_t mode,
                       std::string_view prefix) const;
  // True if it was there. The entry itself, never what a link leads to; not a directory.
  Result<bool> remove(const std::string& name) const;
  // Removes what replace() of a killed process left: older than `age_seconds`.
  void sweep(std::string_view prefix, long age_seconds) const;

 private:
  Directory(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  Error failed(std::string_view doing, std::string_view name, int os_errno) const;
  Result<void> refuse_directory(const std::string& name) const;
  Result<void> sync() const;

  UniqueFd fd_;
  std::string path_;
};

}  // namespace mnet::sys
