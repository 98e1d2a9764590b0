#include "selfcheck/folders.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "selfcheck/finding.h"
#include "sys/file.h"

namespace mnet::selfcheck {
namespace {

// A node of 250 pods has a few megabytes of records.
constexpr std::uint64_t kLeastBytes = 16u << 20;
constexpr std::uint64_t kLeastFiles = 2000;
// Each request that runs has about eight, and a hundred may.
constexpr std::uint64_t kLeastDescriptors = 1024;

Result<struct stat> status_of(const std::string& path) {
  struct stat seen{};
  if (::stat(path.c_str(), &seen) != 0) return Error::from_errno(errno, path);
  return seen;
}

Finding about(const Folder& folder, Severity severity, std::string_view what, std::string why,
              std::string advice) {
  return {.severity = severity,
          .check = kFolders,
          .what = cat(folder.key, ": ", what),
          .why = std::move(why),
          .advice = std::move(advice)};
}

// As the daemon would find it when it makes the folder.
std::string existing_part(std::string path) {
  while (path.size() > 1 && !sys::exists(path)) path = sys::directory_of(path);
  return path;
}

std::optional<Finding> not_writable(const Folder& folder) {
  const std::string there = existing_part(folder.path);
  if (::faccessat(AT_FDCWD, there.c_str(), W_OK, AT_EACCESS) == 0) return std::nullopt;
  return about(
      folder, Severity::kError, cat("cannot write to ", Error::from_errno(errno, there).text()),
      "Requests fail, or leave no record", "Make the directory writable, or configure another one");
}

std::optional<Finding> open_to_others(const Folder& folder, const struct stat& seen) {
  const bool is_open = (seen.st_mode & S_IWOTH) != 0 && (seen.st_mode & S_ISVTX) == 0;
  if (!is_open && seen.st_uid == 0) return std::nullopt;
  return about(folder, Severity::kError,
               is_open ? cat(folder.path, " can be written by every user")
                       : cat(folder.path, " belongs to user ", seen.st_uid),
               "That user can make root run any program with any configuration",
               cat("`chown root ", folder.path, " && chmod go-w ", folder.path, "`"));
}

std::optional<Finding> not_the_hosts(const Folder& folder, const struct stat& ours) {
  if (folder.host_root.empty()) return std::nullopt;
  const auto hosts = status_of(cat(folder.host_root, folder.path));
  if (hosts && hosts->st_dev == ours.st_dev && hosts->st_ino == ours.st_ino) return std::nullopt;
  return about(folder, Severity::kError,
               cat(folder.path, " is not the host's directory of that name"),
               "What is written there is lost with the container, or invisible to other programs",
               "Mount it into the daemon's container from the host, at the same path");
}

}  // namespace

Findings check_folder(const Folder& folder) {
  const auto seen = status_of(folder.path);
  if (!seen && (!folder.is_made || !sys::is_missing(seen.error()))) {
    return {about(folder, Severity::kError, seen.error().text(), "Nothing can be read there",
                  "Create the directory, or configure another one")};
  }
  if (seen && !S_ISDIR(seen->st_mode)) {
    return {about(folder, Severity::kError, cat(folder.path, " is not a directory"),
                  "Nothing can be read there", "Configure a directory")};
  }
  Findings found;
  if (folder.is_written) {
    if (auto finding = not_writable(folder)) found.push_back(*std::move(finding));
  }
  if (!seen) return found;
  if (auto finding = open_to_others(folder, *seen)) found.push_back(*std::move(finding));
  if (auto finding = not_the_hosts(folder, *seen)) found.push_back(*std::move(finding));
  return found;
}

Findings judge_room(const std::string& path, const Room& room) {
  const bool lacks_files = room.counts_files && room.files < kLeastFiles;
  if (room.bytes >= kLeastBytes && !lacks_files) return {};
  const bool is_full = room.bytes == 0 || (room.counts_files && room.files == 0);
  return {{.severity = is_full ? Severity::kError : Severity::kWarning,
           .check = kResources,
           .what = cat("the disk of ", path, " has room for ", room.bytes >> 20, " MiB",
                       room.counts_files ? cat(" and ", room.files, " files") : std::string()),
           .why = "A pod whose networks cannot be recorded does not start",
           .advice = "Free some space"}};
}

Findings check_disk(const std::string& path) {
  struct statvfs seen{};
  if (::statvfs(existing_part(path).c_str(), &seen) != 0) return {};
  return judge_room(path, {.bytes = seen.f_bfree * static_cast<std::uint64_t>(seen.f_frsize),
                           .files = seen.f_ffree,
                           .counts_files = seen.f_files != 0});
}

Findings judge_descriptors(std::uint64_t limit) {
  if (limit >= kLeastDescriptors) return {};
  return {{.severity = Severity::kWarning,
           .check = kResources,
           .what = cat("the daemon may have ", limit, " descriptors open"),
           .why = "When many pods start at once, requests fail and are retried",
           .advice = cat("Raise the container's limit (LimitNOFILE of the runtime) to ",
                         kLeastDescriptors, " or more")}};
}

Findings judge_control_group(bool is_killed_as_one) {
  if (!is_killed_as_one) return {};
  return {{.severity = Severity::kWarning,
           .check = kResources,
           .what = "memory.oom.group of the daemon's control group is 1, and the daemon cannot "
                   "change it",
           .why = "When a plugin takes too much memory, the kernel also kills the daemon, and pods "
                  "that start wait until it runs again",
           .advice =
               "Set singleProcessOOMKill: true in the kubelet's configuration (1.32 or newer), "
               "mount /sys/fs/cgroup writable, or raise the memory limit"}};
}

}  // namespace mnet::selfcheck
