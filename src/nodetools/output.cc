#include "nodetools/output.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/text.h"
#include "sys/write_all.h"

namespace mnet::nodetools {
namespace {

constexpr std::string_view kBorder = "###";

}  // namespace

std::string Output::printable(std::string_view text) {
  std::string out;
  for (;;) {
    const std::size_t kept = text.find_first_of("\n\t");
    out += excerpt(text.substr(0, kept), kWhole);
    if (kept == std::string_view::npos) return out;
    out += text[kept];
    text.remove_prefix(kept + 1);
  }
}

void ProcessOutput::write(std::string_view text) { sys::print(STDOUT_FILENO, text); }

void ProcessOutput::write_complaint(std::string_view about, std::string_view reason) {
  sys::print(STDERR_FILENO, cat(program_, ": ", about, ": ", reason));
}

std::string padded(std::string_view text, std::size_t width) {
  return cat(text, std::string(width > text.size() ? width - text.size() : 0, ' '));
}

std::string block(std::string_view title, std::string_view body) {
  std::string out = cat("### ", title, " ###\n");
  while (!body.empty()) {
    const std::string_view line = body.substr(0, body.find('\n'));
    if (line.starts_with(kBorder) && trim(line).ends_with(kBorder)) out += '\\';
    out += cat(line, "\n");
    body.remove_prefix(std::min(line.size() + 1, body.size()));
  }
  return cat(out, kBorder, "\n");
}

}  // namespace mnet::nodetools
