#include "sys/directory.h"

#include <fcntl.h>
#include <linux/limits.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/durability.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/random_number.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/copy_file.h"
#include "sys/fd.h"
#include "sys/file.h"
#include "sys/file_lock.h"
#include "sys/mount_namespace.h"
#include "sys/replacing.h"

namespace mnet::sys {
namespace {

constexpr mode_t kModeBits = 07777;

}  // namespace

Error Directory::failed(std::string_view doing, std::string_view name, int os_errno) const {
  return Error::from_errno(os_errno, cat(doing, " ", path_, "/", name));
}

Result<Directory> Directory::open(const std::string& path, const std::string& root) {
  const bool is_below = !root.empty() && path.starts_with(root + "/");
  UniqueFd root_fd(is_below ? ::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC) : -1);
  if (is_below && !root_fd) return Error::from_errno(errno, cat("open ", root));
  const std::string in_root = is_below ? path.substr(root.size() + 1) : "";
  UniqueFd fd = is_below ? open_below(root_fd, in_root, O_RDONLY | O_DIRECTORY)
                         : UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return Error::from_errno(errno, cat("open ", path));
  Directory out(std::move(fd), path);
  out.root_ = std::move(root_fd);
  out.in_root_ = in_root;
  return out;
}

Result<Directory> Directory::make(const std::string& path, mode_t mode, const std::string& root) {
  auto there = open(path, root);
  if (there || there.error().code() != Errc::kNotFound) return there;
  MNET_TRY_VOID(make_directories(path, mode));
  return open(path, root);
}

bool Directory::is_same(const Directory& other) const {
  struct stat mine{};
  struct stat theirs{};
  return ::fstat(fd_.get(), &mine) == 0 && ::fstat(other.fd_.get(), &theirs) == 0 &&
         mine.st_dev == theirs.st_dev && mine.st_ino == theirs.st_ino;
}

Result<FileLock> Directory::lock(std::chrono::milliseconds patience,
                                 const FileLock::Stops& stops) const {
  // A descriptor of its own: the lock goes with it.
  UniqueFd fd(::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return Error::from_errno(errno, cat("open ", path_));
  return FileLock::take_directory_within(std::move(fd), path_, patience, stops);
}

UniqueFd Directory::open_entry(const std::string& name) const {
  // Non-blocking: a FIFO without a writer must not hold us.
  if (root_) return open_below(root_, cat(in_root_, "/", name), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  return UniqueFd(::openat(fd_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

Result<std::optional<Blocks>> Directory::find_blocks(const std::string& name) const {
  UniqueFd fd = open_entry(name);
  if (!fd && errno == ENOENT) return std::optional<Blocks>();
  if (!fd) return failed("open", name, errno);
  MNET_TRY(auto&& blocks, Blocks::of(std::move(fd), cat(path_, "/", name)));
  return std::optional(std::move(blocks));
}

Result<std::optional<Directory::Content>> Directory::find(const std::string& name,
                                                          std::size_t max_bytes) const {
  const UniqueFd fd = open_entry(name);
  if (!fd && errno == ENOENT) return std::optional<Content>();
  if (!fd) return failed("open", name, errno);
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return failed("stat", name, errno);
  if (S_ISDIR(status.st_mode)) return failed("read", name, EISDIR);
  if (!S_ISREG(status.st_mode)) {
    return Error(Errc::kInvalid, cat(path_, "/", name, ": not a regular file"));
  }
  MNET_TRY(auto&& bytes, read_all(fd.get(), cat(path_, "/", name), max_bytes));
  return std::optional(Content{.bytes = std::move(bytes), .mode = status.st_mode & kModeBits});
}

Result<std::optional<Directory::Look>> Directory::look(const std::string& name) const {
  struct stat status{};
  // Before it is read: what changes meanwhile has another state.
  std::string now = state(name);
  if (::fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return std::optional<Look>();
    return failed("stat", name, errno);
  }
  if (S_ISLNK(status.st_mode)) {
    Look out{.user = status.st_uid,
             .group = status.st_gid,
             .link = std::string(PATH_MAX, '\0'),
             .state = std::move(now)};
    const ssize_t size = ::readlinkat(fd_.get(), name.c_str(), out.link.data(), out.link.size());
    if (size < 0) return failed("readlink", name, errno);
    out.link.resize(static_cast<std::size_t>(size));
    return std::optional(std::move(out));
  }
  MNET_TRY(auto&& blocks, Blocks::open(fd_.get(), name, O_NOFOLLOW, cat(path_, "/", name)));
  MNET_TRY(auto&& sha256, blocks.sha256());
  return std::optional(Look{.mode = blocks.mode(),
                            .user = blocks.user(),
                            .group = blocks.group(),
                            .sha256 = std::move(sha256),
                            .state = std::move(now)});
}

bool Directory::holds(const std::string& name, std::string_view bytes, mode_t mode) const {
  Blocks blocks = Blocks::of(bytes);
  return holds(name, blocks, mode);
}

bool Directory::holds(const std::string& name, Blocks& blocks, mode_t mode) const {
  auto there = Blocks::open(fd_.get(), name, O_NOFOLLOW, name);
  return there && there->mode() == mode && there->equals(blocks).value_or(false);
}

Result<void> Directory::refuse_directory(const std::string& name) const {
  struct stat status{};
  if (::fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISDIR(status.st_mode)) {
    return Error::from_errno(EISDIR, cat(path_, "/", name));
  }
  return {};
}

std::string Directory::state(const std::string& name) const {
  struct stat status{};
  if (::fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return std::string(kNoEntry);
  }
  return cat(status.st_dev, ":", status.st_ino, ":", status.st_size, ":", status.st_mtim.tv_sec,
             ".", status.st_mtim.tv_nsec, ":", status.st_ctim.tv_sec, ".", status.st_ctim.tv_nsec);
}

Result<void> Directory::check_state(const std::string& name,
                                    const std::optional<std::string>& over) const {
  if (!over || state(name) == *over) return {};
  return Error(Errc::kConflict, cat(path_, "/", name, ": another program changed it meanwhile"));
}

Result<void> Directory::sync() const {
  if (::fsync(fd_.get()) != 0) return Error::from_errno(errno, cat("sync ", path_));
  return {};
}

Result<void> Directory::replace(const std::string& name, Blocks& blocks, const Shape& shape,
                                std::string_view prefix) const {
  MNET_TRY_VOID(refuse_directory(name));
  const auto fill = [&](int fd, const std::string& path) -> Result<void> {
    MNET_TRY_VOID(blocks.write_to(fd, path, shape.sha256));
    if (shape.owner && ::fchown(fd, shape.owner->first, shape.owner->second) == 0) {
      // A change of the owner takes set-user-id bits away.
      if (::fchmod(fd, shape.mode) != 0) return failed("chmod", name, errno);
    }
    MNET_FAIL_BLOCKING("directory-before-rename");
    return {};
  };
  const Replacement names{.directory = fd_.get(),
                          .prefix = cat(path_, "/"),
                          .temporary = cat(prefix, ".", name, ".", random_number()),
                          .name = name,
                          .check = [&] { return check_state(name, shape.over); }};
  MNET_TRY_VOID(replace_at(names, fill, {.mode = shape.mode}, Durability::kDurable));
  MNET_FAIL_BLOCKING("directory-after-rename");
  return sync();
}

Result<void> Directory::replace_with_link(const std::string& name, const std::string& link,
                                          std::string_view prefix) const {
  MNET_TRY_VOID(refuse_directory(name));
  const std::string temporary = cat(prefix, ".", name, ".", random_number());
  if (::symlinkat(link.c_str(), fd_.get(), temporary.c_str()) != 0) {
    return failed("symlink", temporary, errno);
  }
  if (::renameat(fd_.get(), temporary.c_str(), fd_.get(), name.c_str()) != 0) {
    const int os_errno = errno;
    ::unlinkat(fd_.get(), temporary.c_str(), 0);
    return failed("rename", name, os_errno);
  }
  return sync();
}

Result<bool> Directory::remove(const std::string& name,
                               const std::optional<std::string>& over) const {
  MNET_TRY_VOID(refuse_directory(name));
  MNET_TRY_VOID(check_state(name, over));
  if (::unlinkat(fd_.get(), name.c_str(), 0) != 0) {
    if (errno == ENOENT) return false;
    return failed("remove", name, errno);
  }
  MNET_TRY_VOID(sync());
  return true;
}

void Directory::sweep(std::string_view prefix, long age_seconds) const {
  const auto entries = list_directory(cat("/proc/self/fd/", fd_.get()));
  if (!entries) return;
  const std::time_t now = std::time(nullptr);
  for (const Entry& entry : *entries) {
    const bool is_file = entry.kind == EntryKind::kRegular || entry.kind == EntryKind::kLink;
    if (!is_file || !entry.name.starts_with(cat(prefix, "."))) continue;
    struct stat status{};
    if (::fstatat(fd_.get(), entry.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (now - status.st_mtime >= age_seconds) ::unlinkat(fd_.get(), entry.name.c_str(), 0);
  }
}

}  // namespace mnet::sys
