#include "selfcheck/mounts.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace mnet::selfcheck {
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

bool is_below(std::string_view path, std::string_view place) {
  if (place == "/") return true;
  return path.starts_with(place) && (path.size() == place.size() || path[place.size()] == '/');
}

// nullptr: only the root.
const Mount* mount_of(const std::vector<Mount>& mounts, std::string_view path) {
  const Mount* found = nullptr;
  for (const Mount& mount : mounts) {
    if (mount.place == "/" || !is_below(path, mount.place)) continue;
    if (found == nullptr || mount.place.size() >= found->place.size()) found = &mount;
  }
  return found;
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

Findings check_propagation(const std::vector<Mount>& mounts,
                           const std::vector<std::string>& places) {
  Findings found;
  for (const std::string& place : places) {
    const Mount* mount = mount_of(mounts, place);
    if (mount != nullptr && mount->propagates) continue;
    const std::string_view how = mount == nullptr ? "is not mounted from the host"
                                                  : "does not see what the host mounts later";
    found.push_back({.severity = Severity::kError,
                     .check = kMounts,
                     .what = cat(place, " ", how),
                     .why = "Network namespaces of pods that start later cannot be seen",
                     .advice = "Mount it with mountPropagation: HostToContainer"});
  }
  return found;
}

}  // namespace mnet::selfcheck
