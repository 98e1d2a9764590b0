// A directory held open. Its entries are named by one component and reached relative to it, so that
// no name leads elsewhere, even if the directory's path is replaced meanwhile.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "sys/copy_file.h"
#include "sys/fd.h"
#include "sys/file_lock.h"

namespace mnet::sys {

class Directory {
 public:
  // If `path` lies below `root`, a directory other than "/", links on the way and in find() are
  // followed as a process sees them whose root directory is `root`.
  static Result<Directory> open(const std::string& path, const std::string& root = {});
  // mkdir -p first; directories that it makes get exactly `mode`.
  static Result<Directory> make(const std::string& path, mode_t mode, const std::string& root = {});

  const std::string& path() const { return path_; }
  // Whether both are one directory, whatever their paths.
  bool is_same(const Directory& other) const;

  // Held while the directory is changed. Errors as for FileLock::take_file_within.
  Result<FileLock> lock(std::chrono::milliseconds patience,
                        const FileLock::Stops& stops = {}) const;

  struct Content {
    std::string bytes;
    mode_t mode;  // permission bits
  };
  // A file's content, links followed; none if there is no such file. A directory, a FIFO, more than
  // `max_bytes`: errors.
  Result<std::optional<Content>> find(const std::string& name, std::size_t max_bytes) const;

  // The same, to be read block by block.
  Result<std::optional<Blocks>> find_blocks(const std::string& name) const;

  // An entry itself: what a link says, not what it leads to.
  struct Look {
    mode_t mode = 0;  // permission bits
    uid_t user = 0;
    gid_t group = 0;
    std::string sha256 = {};  // of a regular file's bytes
    std::string link = {};    // of a symbolic link
    std::string state = {};   // another text after a change
  };
  // None if there is no such entry; neither a file nor a link: an error.
  Result<std::optional<Look>> look(const std::string& name) const;

  // Whether the entry itself, not a link, is a regular file of exactly these bytes and mode.
  bool holds(const std::string& name, std::string_view bytes, mode_t mode) const;
  bool holds(const std::string& name, Blocks& blocks, mode_t mode) const;

  struct Shape {
    mode_t mode;
    std::optional<std::pair<uid_t, gid_t>> owner = {};  // as far as we may give it away
    std::string sha256 = {};                            // as for Blocks::write_to
    // The state that the entry had when it was looked at; kConflict if it has another one (none: no
    // entry) in the moment of the change.
    std::optional<std::string> over = {};
  };
  // Written beside under `<prefix>.<name>.<random>`, synced, renamed over the entry itself, which
  // may be a link or a running program, but not a directory; then the directory is synced. The
  // temporary name is gone after any failure.
  Result<void> replace(const std::string& name, Blocks& blocks, const Shape& shape,
                       std::string_view prefix) const;
  Result<void> replace_with_link(const std::string& name, const std::string& link,
                                 std::string_view prefix) const;
  // `kNoEntry` if there is none.
  static constexpr std::string_view kNoEntry = "none";
  std::string state(const std::string& name) const;
  // True if it was there. The entry itself, never what a link leads to; not a directory. `over` as
  // in Shape.
  Result<bool> remove(const std::string& name, const std::optional<std::string>& over = {}) const;
  // Removes what replace() of a killed process left: older than `age_seconds`.
  void sweep(std::string_view prefix, long age_seconds) const;

 private:
  Directory(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  // Links followed.
  UniqueFd open_entry(const std::string& name) const;
  Error failed(std::string_view doing, std::string_view name, int os_errno) const;
  Result<void> refuse_directory(const std::string& name) const;
  Result<void> check_state(const std::string& name, const std::optional<std::string>& over) const;
  Result<void> sync() const;

  UniqueFd fd_;
  std::string path_;
  UniqueFd root_;        // that links are followed in; empty: ours
  std::string in_root_;  // our path from there
};

}  // namespace mnet::sys
