#include "sys/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/integer.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/fd.h"
#include "sys/file.h"
#include "sys/write_all.h"

namespace mnet::sys {
namespace {

// Version 1 says "none" with the largest multiple of the page size.
constexpr std::uint64_t kUnlimited = 1ull << 62;

std::optional<std::uint64_t> limit_in(const std::string& path) {
  auto text = read_file(path, 4096);
  if (!text) return std::nullopt;
  const auto limit =
      parse_integer<std::uint64_t>(trim(*text));  // "max" of version 2 is not a number
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
    if (line.starts_with(kKey)) return parse_integer<std::uint64_t>(line.substr(kKey.size()));
  }
  return std::nullopt;
}

constexpr std::string_view kOwnFolder = "/multus-daemon";
constexpr std::string_view kChildFolder = "/multus-delegates";
constexpr std::string_view kKillsTogether = "/memory.oom.group";

// Our own group of version 2; empty: there is none. A path of the host that is not there is the
// mount itself (folders_of).
std::string folder_of_version_2(const CgroupFiles& files) {
  for (const MemoryGroup& group : memory_groups(files)) {
    if (!group.is_version_2) continue;
    for (const std::string& folder : group.folders) {
      if (::access(cat(folder, "/cgroup.procs").c_str(), F_OK) == 0) return folder;
    }
  }
  return {};
}

// In one piece: the kernel takes each write for an order of its own.
Result<void> tell(const std::string& path, std::string_view order) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) return Error::from_errno(errno, cat("open ", path));
  return write_all(file.get(), order, path);
}

Error unavailable(std::string text) { return Error(Errc::kUnavailable, std::move(text)); }

// A process of another namespace has the number 0.
Result<void> check_only_ours(const std::string& folder) {
  MNET_TRY(const auto& processes, read_file(cat(folder, "/cgroup.procs")));
  const std::string ours = cat(::getpid());
  for (const std::string_view process : split(processes, '\n')) {
    if (process.empty() || process == ours) continue;
    return unavailable(cat("process ", process, " is in ", folder, ", too"));
  }
  return {};
}

Result<std::uint64_t> limit_for_children(const CgroupFiles& files, std::uint64_t kept) {
  const auto limit = memory_limit(files);
  if (!limit) return unavailable("there is no memory limit");
  if (*limit <= 2 * kept)
    return unavailable(cat("the memory limit is ", *limit >> 20, " MiB only"));
  return *limit - kept;
}

Result<void> make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return {};
  return Error::from_errno(errno, cat("mkdir ", path));
}

Result<void> divide(const std::string& folder, std::uint64_t limit) {
  const std::string own = cat(folder, kOwnFolder), child = cat(folder, kChildFolder);
  MNET_TRY_VOID(make_folder(own));
  MNET_TRY_VOID(make_folder(child));
  MNET_TRY_VOID(tell(cat(own, "/cgroup.procs"), "0"));
  MNET_TRY_VOID(tell(cat(folder, "/cgroup.subtree_control"), "+memory"));
  return tell(cat(child, "/memory.max"), cat(limit));
}

// What cannot be undone harms nothing.
void unite(const std::string& folder) {
  (void)tell(cat(folder, "/cgroup.subtree_control"), "-memory");
  (void)tell(cat(folder, "/cgroup.procs"), "0");
  ::rmdir(cat(folder, kChildFolder).c_str());
  ::rmdir(cat(folder, kOwnFolder).c_str());
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

bool is_killed_as_one(const CgroupFiles& files) {
  const auto text = read_file(cat(folder_of_version_2(files), kKillsTogether), 4096);
  return text && trim(*text) == "1";
}

Result<bool> be_killed_one_by_one(const CgroupFiles& files) {
  if (!is_killed_as_one(files)) return false;
  MNET_TRY_VOID(tell(cat(folder_of_version_2(files), kKillsTogether), "0"));
  return true;
}

Result<ChildGroup> ChildGroup::make(std::uint64_t kept, const CgroupFiles& files) {
  const std::string folder = folder_of_version_2(files);
  if (folder.empty()) return unavailable("there are no control groups of version 2");
  MNET_TRY(const auto& controllers, read_file(cat(folder, "/cgroup.controllers"), 4096));
  const auto names = split(trim(controllers), ' ');
  if (std::ranges::find(names, "memory") == names.end()) {
    return unavailable(cat(folder, " has no memory controller"));
  }
  MNET_TRY(const auto limit, limit_for_children(files, kept));
  MNET_TRY_VOID(check_only_ours(folder));
  if (auto divided = divide(folder, limit); !divided) {
    unite(folder);
    return std::move(divided).error();
  }
  std::string child = cat(folder, kChildFolder);
  UniqueFd fd(::open(child.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) {
    const int failed = errno;
    unite(folder);
    return Error::from_errno(failed, cat("open ", child));
  }
  return ChildGroup(std::move(fd), std::move(child));
}

std::optional<std::uint64_t> ChildGroup::oom_kills() const {
  return kills_in(cat(folder_, "/memory.events"));
}

}  // namespace mnet::sys
