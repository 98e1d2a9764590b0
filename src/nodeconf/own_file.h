// The file that we keep in the runtime's directory: written whole or not at all, and watched for
// what other programs do to it (03, 6.6). All calls block.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "sys/fd.h"

namespace mnet::nodeconf {

// Which file a path leads to at the moment, and in which state; equal if nothing has happened to
// it.
struct FileMark {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  std::int64_t changed_ns = 0;
  friend bool operator==(const FileMark&, const FileMark&) = default;
};

// None if there is no such file. Links are followed: a swapped link is another file.
std::optional<FileMark> mark_of(const std::string& path);

class OwnFile {
 public:
  explicit OwnFile(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }

  // Mode 0600. A text that a runtime would refuse (not a JSON object, or without name or type) is
  // an error and leaves the file as it is.
  Result<void> write(std::string_view text);
  // The same, unless the file is ours and has this text already: then false.
  Result<bool> update(std::string_view text);

  enum class Fate : std::uint8_t {
    kThere,    // and a runtime can read it, even if another program wrote it last
    kBroken,   // there, but nothing that a runtime can read
    kRemoved,  // not there
    kRenamed,  // ours is in the directory under another name
  };
  struct State {
    Fate fate = Fate::kThere;
    std::string other_name = {};  // of kRenamed
  };
  State state() const;

  // Removes it if it is still the one that we wrote last; whether it was.
  Result<bool> remove_if_ours();

 private:
  bool is_ours(const std::string& path) const;

  std::string path_;
  sys::UniqueFd written_;  // pins the inode, so that its number cannot come back as another's
};

}  // namespace mnet::nodeconf
