#include "sys/write_all.h"

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string_view>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"

namespace mnet::sys {

Result<void> write_all(int fd, std::string_view bytes, std::string_view path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Error::from_errno(errno, cat("write ", path));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

void print(int fd, std::string_view text) {
  (void)write_all(fd, cat(text, text.ends_with('\n') ? "" : "\n"), "");
}

}  // namespace mnet::sys
