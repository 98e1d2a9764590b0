#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/reading.h"
#include "base/result.h"
#include "base/text.h"
#include "plugin/plugin.h"
#include "sys/fd.h"
#include "sys/mount_namespace.h"

namespace mnet::plugin {
namespace {

// Opens a file as plugins see it.
using Open = std::function<sys::UniqueFd(const std::string& path, int flags)>;

sys::UniqueFd open_here(const std::string& path, int flags) {
  return sys::UniqueFd(::open(path.c_str(), flags | O_CLOEXEC));
}

Result<void> look_in(const World& world, const std::function<void(const Open&)>& look) {
  if (!world.mount_namespace.empty()) {
    return sys::look_in_mount_namespace(world.mount_namespace, [&] { look(open_here); });
  }
  if (world.root.empty()) {
    look(open_here);
    return {};
  }
  const sys::UniqueFd root = open_here(world.root, O_PATH | O_DIRECTORY);
  if (!root) return Error::from_errno(errno, cat("open chroot directory ", world.root));
  look([&](const std::string& path, int flags) { return sys::open_below(root, path, flags); });
  return {};
}

bool is_regular_file(const sys::UniqueFd& file) {
  struct stat status{};
  return file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
}

// None if no directory has one. A shortage of resources is an error: it may hide an existing
// plugin.
Result<std::optional<std::string>> first_match(std::string_view type,
                                               const std::vector<std::string>& dirs,
                                               const Open& open) {
  for (const std::string& dir : dirs) {
    if (dir.empty()) continue;  // would mean the working directory
    std::string path = clean_path(cat(dir, "/", type));
    // With a slash whatever the directory: a bare name would be looked up in $PATH.
    if (path.find('/') == std::string::npos) path = cat("./", path);
    const sys::UniqueFd file = open(path, O_PATH);
    if (!file) {
      if (Error error = Error::from_errno(errno, cat("open ", path)); is_shortage(error)) {
        return error;
      }
    }
    if (is_regular_file(file)) return path;
  }
  return std::nullopt;
}

// `binDir` is often also a directory of the runtime's CNI_PATH.
std::vector<std::string> without_repeats(const std::vector<std::string>& dirs) {
  std::vector<std::string> once;
  for (const std::string& dir : dirs) {
    if (std::ranges::find(once, dir) == once.end()) once.push_back(dir);
  }
  return once;
}

}  // namespace

Result<std::string> find_plugin(const World& world, const std::string& type,
                                const std::vector<std::string>& dirs) {
  if (type.empty()) return Error(Errc::kInvalid, "no plugin name provided");
  if (type.find('/') != std::string::npos || type.find('\0') != std::string::npos) {
    return Error(Errc::kInvalid, cat("invalid plugin name: ", excerpt(type)));
  }
  if (dirs.empty()) return Error(Errc::kInvalid, "no paths provided");
  Result<std::optional<std::string>> found;
  const auto looked =
      look_in(world, [&](const Open& open) { found = first_match(type, dirs, open); });
  if (!looked) found = looked.error();
  if (!found) return std::move(found).error().wrap(cat("looking for plugin ", go_quoted(type)));
  if (*found) return **std::move(found);
  return Error(Errc::kNotFound, cat("failed to find plugin ", go_quoted(type), " in path ",
                                    bracketed(without_repeats(dirs))));
}

bool is_machine_code(const World& world, const std::string& binary) {
  constexpr std::string_view kElf =
      "\x7f"
      "ELF";
  bool is_elf = false;
  const auto looked = look_in(world, [&](const Open& open) {
    const sys::UniqueFd file = open(binary, O_RDONLY | O_NONBLOCK);
    char head[kElf.size()];
    is_elf = is_regular_file(file) && ::read(file.get(), head, sizeof head) == sizeof head &&
             std::string_view(head, sizeof head) == kElf;
  });
  return looked && is_elf;
}

}  // namespace mnet::plugin
