// How a file is replaced whole, whatever writes its bytes. For sys itself; others have file.h and
// copy_file.h.
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

Result<void> write_all(int fd, std::string_view bytes, const std::string& path);

}  // namespace mnet::sys
