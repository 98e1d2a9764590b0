#include "sys/cgroup.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/text.h"
#include "sys/file.h"

namespace mnet::sys {
namespace {

// Version 1 says "none" with the largest multiple of the page size.
constexpr std::uint64_t kUnlimited = 1ull << 62;

std::optional<std::uint64_t> number_in(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> limit_in(const std::string& path) {
  auto text = read_file(path, 4096);
  if (!text) return std::nullopt;
  const auto limit = number_in(trim(*text));  // "max" of version 2 is not a number
  return limit && *limit < kUnlimited ? limit : std::nullopt;
}

std::optional<std::uint64_t> smaller(std::optional<std::uint64_t> a,
                                     std::optional<std::uint64_t> b) {
  if (a && b) return std::min(*a, *b);
  return a ? a : b;
}

// Folders of `group` and its parents up to the mount, from the inside out. In a container the
// kernel may name the group as the host sees it while only its own part is mounted: parents are
// then not there, and the mount itself is our group.
std::vector<std::string> folders_of(const std::string& mount, std::string_view group) {
  std::vector<std::string> folders;
  for (std::string path = clean_path(cat("/", group)); path != "/"; path = directory_of(path)) {
    folders.push_back(cat(mount, path));
  }
  folders.push_back(mount);
  return folders;
}

bool lists(std::string_view controllers, std::string_view wanted) {
  const auto names = split(controllers, ',');
  return std::ranges::find(names, wanted) != names.end();
}

// A hierarchy that counts memory, as we are in it.
struct MemoryGroup {
  std::vector<std::string> folders;  // ours, then those above it
  bool is_version_2 = false;
};

// Lines of the membership are `<hierarchy>:<controllers>:<path>`; version 2 is `0::<path>`. Where
// both are mounted (hybrid), memory belongs to version 1 and the other has no file.
std::vector<MemoryGroup> memory_groups(const CgroupFiles& files) {
  std::vector<MemoryGroup> groups;
  const auto membership = read_file(files.membership, 64u << 10);
  if (!membership) return groups;
  for (const std::string_view line : split(*membership, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view group = line.substr(second + 1);
    if (line.starts_with("0::")) {
      groups.push_back({.folders = folders_of(files.mount, group), .is_version_2 = true});
    } else if (lists(controllers, "memory")) {
      groups.push_back({.folders = folders_of(files.mount + "/memory", group)});
    }
  }
  return groups;
}

// The number after `oom_kill ` at the beginning of a line.
std::optional<std::uint64_t> kills_in(const std::string& path) {
  constexpr std::string_view kKey = "oom_kill ";
  const auto text = read_file(path, 4096);
  if (!text) return std::nullopt;
  for (const std::string_view line : split(*text, '\n')) {
    if (line.starts_with(kKey)) return number_in(line.substr(kKey.size()));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> memory_limit(const CgroupFiles& files) {
  std::optional<std::uint64_t> least;
  for (const MemoryGroup& group : memory_groups(files)) {
    const std::string_view file = group.is_version_2 ? "memory.max" : "memory.limit_in_bytes";
    for (const std::string& folder : group.folders) {
      least = smaller(least, limit_in(cat(folder, "/", file)));
    }
  }
  return least;
}

std::optional<std::uint64_t> oom_kills(const CgroupFiles& files) {
  for (const MemoryGroup& group : memory_groups(files)) {
    const std::string_view file = group.is_version_2 ? "memory.events" : "memory.oom_control";
    for (const std::string& folder : group.folders) {
      if (const auto kills = kills_in(cat(folder, "/", file))) return kills;
    }
  }
  return std::nullopt;
}

}  // namespace mnet::sys
