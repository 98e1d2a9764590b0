// Contents that are read block by block, whatever their size, and copies of files that are replaced
// whole, even while the old one runs (03, 9.3).
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "sys/fd.h"

namespace mnet::sys {

class Blocks {
 public:
  // `path` is relative to `directory`, an open descriptor or AT_FDCWD; `name` is for messages.
  // kInvalid if it is not a regular file.
  static Result<Blocks> open(int directory, const std::string& path, int flags, std::string name);
  static Result<Blocks> of(UniqueFd fd, std::string name);
  // A text in memory, which must outlive this.
  static Blocks of(std::string_view text);

  off_t size() const { return status_.st_size; }
  mode_t mode() const;  // permission bits
  uid_t user() const { return status_.st_uid; }
  gid_t group() const { return status_.st_gid; }

  // The block at `offset`; shorter, or empty, only at the end of the file. Valid until the next
  // call.
  Result<std::string_view> at(off_t offset);

  Result<bool> equals(Blocks& other);
  Result<std::string> sha256();
  // kConflict if they do not have this SHA-256 (empty: any): they changed while they were read.
  Result<void> write_to(int fd, const std::string& path, const std::string& expected = {});

 private:
  Blocks(UniqueFd fd, std::string name, const struct stat& status)
      : fd_(std::move(fd)), name_(std::move(name)), status_(status) {}

  UniqueFd fd_;
  std::string name_;
  struct stat status_;
  std::string_view text_;  // instead of the descriptor
  std::string block_;
};

// `to` gets the bytes of `from`, and its mode unless another is given. Written beside and renamed,
// so "text file busy" cannot happen, and nothing is left after a failure. False: `to` had these
// bytes and this mode already and was not touched, or both are one file.
Result<bool> copy_file(const std::string& from, const std::string& to,
                       std::optional<mode_t> mode = {});

// Whether both paths lead to one file, by whatever names and links.
bool is_same_file(const std::string& a, const std::string& b);

}  // namespace mnet::sys
