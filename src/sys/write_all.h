// Writing to a descriptor until all is written.
#pragma once

#include <string_view>

#include "base/result.h"

namespace mnet::sys {

// All of it; `path` is for messages only.
Result<void> write_all(int fd, std::string_view bytes, std::string_view path);
// For standard output and standard error: text in one piece, with a newline if its last line has
// none. What cannot be written is lost.
void print(int fd, std::string_view text);

}  // namespace mnet::sys
