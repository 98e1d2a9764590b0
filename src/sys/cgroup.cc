#include "sys/cgroup.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/text.h"
#include "sys/file.h"

namespace mnet::sys {
namespace {

// Version 1 says "none" with the largest multiple of the page size.
constexpr std::uint64_t kUnlimited = 1ull << 62;

std::optional<std::uint64_t> limit_in(const std::string& path) {
  auto text = read_file(path, 4096);
  if (!text) return std::nullopt;
  const std::string_view digits = trim(*text);
  std::uint64_t limit = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), limit);
  // "max" of version 2 is not a number.
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return limit >= kUnlimited ? std::nullopt : std::optional(limit);
}

std::optional<std::uint64_t> smaller(std::optional<std::uint64_t> a,
                                     std::optional<std::uint64_t> b) {
  if (a && b) return std::min(*a, *b);
  return a ? a : b;
}

// Of `group` and its parents up to the mount. In a container the kernel may name the group as the
// host sees it while only its own part is mounted: parents that are not there are passed over, and
// the mount itself is then our group.
std::optional<std::uint64_t> limit_along(const std::string& mount, std::string_view group,
                                         std::string_view file) {
  std::optional<std::uint64_t> least;
  for (std::string path = clean_path(cat("/", group));; path = directory_of(path)) {
    const bool at_mount = path == "/";
    least = smaller(least, limit_in(cat(mount, at_mount ? "" : path, "/", file)));
    if (at_mount) return least;
  }
}

bool lists(std::string_view controllers, std::string_view wanted) {
  const auto names = split(controllers, ',');
  return std::ranges::find(names, wanted) != names.end();
}

}  // namespace

std::optional<std::uint64_t> memory_limit(const CgroupFiles& files) {
  auto membership = read_file(files.membership, 64u << 10);
  if (!membership) return std::nullopt;

  std::optional<std::uint64_t> least;
  // Lines are `<hierarchy>:<controllers>:<path>`; version 2 is `0::<path>`. Where both are mounted
  // (hybrid), memory belongs to version 1 and the other finds no file.
  for (const std::string_view line : split(*membership, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view group = line.substr(second + 1);
    if (line.starts_with("0::")) {
      least = smaller(least, limit_along(files.mount, group, "memory.max"));
    } else if (lists(controllers, "memory")) {
      least = smaller(least, limit_along(files.mount + "/memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

}  // namespace mnet::sys
