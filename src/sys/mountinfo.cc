#include "sys/mountinfo.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace mnet::sys {
namespace {

bool is_octal(char letter) { return letter >= '0' && letter <= '7'; }

// `\040` is a space.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
        is_octal(text[i + 3])) {
      out +=
          static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + text[i + 3] - '0');
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

std::vector<Mount> parse_mountinfo(std::string_view text) {
  std::vector<Mount> mounts;
  for (const std::string_view line : split(text, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() < 7) continue;
    Mount mount{.place = unescaped(words[4])};
    // Optional fields, up to a hyphen.
    for (std::size_t i = 6; i < words.size() && words[i] != "-"; ++i) {
      mount.propagates |= words[i].starts_with("shared:") || words[i].starts_with("master:");
    }
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

}  // namespace mnet::sys
