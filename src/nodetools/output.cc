#include "nodetools/output.h"

#include <unistd.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/text.h"
#include "sys/write_all.h"

namespace mnet::nodetools {

void ProcessOutput::print(std::string_view text) { sys::print(STDOUT_FILENO, text); }

void ProcessOutput::complain(std::string_view about, std::string_view reason) {
  sys::print(STDERR_FILENO, cat(program_, ": ", about, ": ", reason));
}

std::string padded(std::string_view text, std::size_t width) {
  return cat(text, std::string(width > text.size() ? width - text.size() : 0, ' '));
}

std::string block(std::string_view title, std::string_view body) {
  return cat("### ", title, " ###\n", body, body.empty() || body.ends_with('\n') ? "" : "\n",
             "###\n");
}

}  // namespace mnet::nodetools
