// A file that grows at its end, one write per line, and can be put aside for a new one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "sys/fd.h"

namespace mnet::sys {

// Several writers, of several processes too, keep their lines whole. Not for several threads at
// once.
class AppendFile {
 public:
  // Made with exactly `mode` if it is missing; its directory is not made. A FIFO without a reader
  // is an error, not a hang.
  static Result<AppendFile> open(const std::string& path, mode_t mode);

  // How large the file of that name is now, with what other writers have added. None if the name
  // stands for another file by now, or for none: what was opened has been moved or removed. What is
  // not a regular file has size 0.
  std::optional<std::uint64_t> size() const;

  // One write.
  Result<void> append(std::string_view line);

  // Renames the file to `aside` and goes on with a new one of the old name, mode and owner. After
  // a failure what was open stays open, under whichever name it has.
  Result<void> put_aside(const std::string& aside);

 private:
  explicit AppendFile(std::string path) : path_(std::move(path)) {}
  Result<void> hold(UniqueFd fd);

  std::string path_;
  UniqueFd fd_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace mnet::sys
