#include "sys/used_netns.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <set>
#include <string>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/file.h"

namespace mnet::sys {
namespace {

// Not of process 1: it is the node's, or our own, and may be closed to us.
bool is_process(const std::string& name) {
  return name != "1" && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Result<std::set<std::uint64_t>> list_used_netns() {
  MNET_TRY(const auto& entries, list_directory("/proc"));
  std::set<std::uint64_t> used;
  for (const Entry& entry : entries) {
    if (!is_process(entry.name)) continue;
    const std::string path = cat("/proc/", entry.name, "/ns/net");
    struct stat status{};
    if (::stat(path.c_str(), &status) == 0) {
      used.insert(status.st_ino);
    } else if (errno != ENOENT && errno != ESRCH) {  // it has ended
      return Error::from_errno(errno, cat("stat ", path));
    }
  }
  return used;
}

}  // namespace mnet::sys
