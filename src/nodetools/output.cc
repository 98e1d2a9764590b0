#include "nodetools/output.h"

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/text.h"

namespace mnet::nodetools {
namespace {

std::string whole_lines(std::string_view text) {
  return cat(text, text.ends_with('\n') ? "" : "\n");
}

}  // namespace

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void ProcessOutput::print(std::string_view text) { write_all(STDOUT_FILENO, whole_lines(text)); }

void ProcessOutput::complain(std::string_view about, std::string_view reason) {
  write_all(STDERR_FILENO, whole_lines(cat(program_, ": ", about, ": ", reason)));
}

std::string block(std::string_view title, std::string_view body) {
  return cat("### ", title, " ###\n", body, body.empty() || body.ends_with('\n') ? "" : "\n",
             "###\n");
}

}  // namespace mnet::nodetools
