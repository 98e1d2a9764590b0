#include "selfcheck/mounts.h"

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "selfcheck/finding.h"
#include "sys/mountinfo.h"

namespace mnet::selfcheck {
namespace {

bool is_below(std::string_view path, std::string_view place) {
  if (place == "/") return true;
  return path.starts_with(place) && (path.size() == place.size() || path[place.size()] == '/');
}

// nullptr: only the root.
const sys::Mount* mount_of(const std::vector<sys::Mount>& mounts, std::string_view path) {
  const sys::Mount* found = nullptr;
  for (const sys::Mount& mount : mounts) {
    if (mount.place == "/" || !is_below(path, mount.place)) continue;
    if (found == nullptr || mount.place.size() >= found->place.size()) found = &mount;
  }
  return found;
}

}  // namespace

Findings check_propagation(const std::vector<sys::Mount>& mounts,
                           const std::vector<std::string>& places) {
  Findings found;
  for (const std::string& place : places) {
    const sys::Mount* mount = mount_of(mounts, place);
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
