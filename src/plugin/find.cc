#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "plugin/plugin.h"
#include "sys/fd.h"
#include "sys/mount_namespace.h"

namespace mnet::plugin {
namespace {

bool is_regular_file(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// As it is below `root`: absolute links stay inside, too.
bool is_regular_file_in(const sys::UniqueFd& root, const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT;
  const sys::UniqueFd file(
      static_cast<int>(::syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof how)));
  struct stat status{};
  return file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
}

using Look = std::function<bool(const std::string& path)>;

std::optional<std::string> first_match(std::string_view type, const std::vector<std::string>& dirs,
                                       const Look& is_file) {
  for (const std::string& dir : dirs) {
    if (dir.empty()) continue;  // would mean the working directory
    std::string path = clean_path(cat(dir, "/", type));
    // With a slash whatever the directory: a bare name would be looked up in $PATH.
    if (path.find('/') == std::string::npos) path = cat("./", path);
    if (is_file(path)) return path;
  }
  return std::nullopt;
}

Result<std::optional<std::string>> search(const World& world, std::string_view type,
                                          const std::vector<std::string>& dirs) {
  if (!world.mount_namespace.empty()) {
    std::optional<std::string> found;
    auto looked = sys::look_in_mount_namespace(
        world.mount_namespace, [&] { found = first_match(type, dirs, is_regular_file); });
    if (!looked) return std::move(looked).error();
    return found;
  }
  if (world.root.empty()) return first_match(type, dirs, is_regular_file);
  const sys::UniqueFd root(::open(world.root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return Error::from_errno(errno, cat("open chroot directory ", world.root));
  return first_match(type, dirs,
                     [&](const std::string& path) { return is_regular_file_in(root, path); });
}

}  // namespace

Result<std::string> find_plugin(const World& world, const std::string& type,
                                const std::vector<std::string>& dirs) {
  if (type.empty()) return Error(Errc::kInvalid, "no plugin name provided");
  if (type.find('/') != std::string::npos || type.find('\0') != std::string::npos) {
    return Error(Errc::kInvalid, cat("invalid plugin name: ", type));
  }
  if (dirs.empty()) return Error(Errc::kInvalid, "no paths provided");
  auto found = search(world, type, dirs);
  if (!found) return std::move(found).error().wrap(cat("looking for plugin ", go_quoted(type)));
  if (*found) return **std::move(found);
  return Error(Errc::kNotFound,
               cat("failed to find plugin ", go_quoted(type), " in path ", bracketed(dirs)));
}

}  // namespace mnet::plugin
