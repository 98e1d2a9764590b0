#include "cni_node/mounts.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "sys/file.h"
#include "sys/mountinfo.h"

namespace mnet::cni_node {
bool is_below_a_mount(std::string_view path, std::string_view mounts) {
  for (const sys::Mount& mount : sys::parse_mountinfo(mounts)) {
    if (mount.place == "/") continue;
    if (path == mount.place || path.starts_with(mount.place + "/")) return true;
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
