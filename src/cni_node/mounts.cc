#include "cni_node/mounts.h"

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "base/text.h"
#include "sys/file.h"

namespace mnet::cni_node {
namespace {

// `\040` and its like stand for blanks.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    int code = 0;
    if (text[i] == '\\' && i + 3 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 4, code, 8).ec == std::errc()) {
      out += static_cast<char>(code);
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

bool is_below_a_mount(std::string_view path, std::string_view mounts) {
  for (const std::string_view line : split(mounts, '\n')) {
    const auto fields = split(line, ' ');
    if (fields.size() < 5 || fields[4] == "/") continue;
    const std::string point = unescaped(fields[4]);
    if (path == point || path.starts_with(point + "/")) return true;
  }
  return false;
}

bool is_below_a_mount(const std::string& path) {
  const auto mounts = sys::read_file("/proc/self/mountinfo");
  if (!mounts) return true;
  std::error_code ignored;
  const auto real = std::filesystem::weakly_canonical(path, ignored);
  return is_below_a_mount(real.native(), *mounts);
}

}  // namespace mnet::cni_node
