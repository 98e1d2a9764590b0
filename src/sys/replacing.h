// How a file is replaced whole, whatever writes its bytes. For sys itself; others have file.h,
// directory.h and copy_file.h.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/file.h"

namespace mnet::sys {

struct Owner {
  uid_t user;
  gid_t group;
};

struct Shape {
  mode_t mode;
  std::optional<Owner> owner = std::nullopt;
};

// Writes into a descriptor; the path is for messages.
using Fill = std::function<Result<void>(int fd, const std::string& path)>;

// replace_file() with what `fill` writes.
Result<void> replace_with(const std::string& path, const Fill& fill, const Shape& shape,
                          Durability durability);

// What a temporary file is renamed to. Both names are relative to `directory`, an open descriptor
// or AT_FDCWD; `prefix` stands before them in messages.
struct Replacement {
  int directory;
  std::string prefix, temporary, name;
  // Asked last of all before the rename, which its error prevents.
  std::function<Result<void>()> check = [] { return Result<void>(); };
};
// Writes the temporary file and renames it; the temporary name is gone after any failure. The
// directory is not synced.
Result<void> replace_at(const Replacement& names, const Fill& fill, const Shape& shape,
                        Durability durability);

}  // namespace mnet::sys
