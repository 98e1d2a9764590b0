#include "sys/directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
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
#include "sys/fd.h"
#include "sys/file.h"
#include "sys/replacing.h"
#include "sys/write_all.h"

namespace mnet::sys {
namespace {

constexpr mode_t kModeBits = 07777;

}  // namespace

Error Directory::failed(std::string_view doing, std::string_view name, int os_errno) const {
  return Error::from_errno(os_errno, cat(doing, " ", path_, "/", name));
}

Result<Directory> Directory::open(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return Error::from_errno(errno, cat("open ", path));
  return Directory(std::move(fd), path);
}

Result<Directory> Directory::make(const std::string& path, mode_t mode) {
  MNET_TRY_VOID(make_directories(path, mode));
  return open(path);
}

bool Directory::is_same(const Directory& other) const {
  struct stat mine{};
  struct stat theirs{};
  return ::fstat(fd_.get(), &mine) == 0 && ::fstat(other.fd_.get(), &theirs) == 0 &&
         mine.st_dev == theirs.st_dev && mine.st_ino == theirs.st_ino;
}

Result<std::optional<Directory::Content>> Directory::find(const std::string& name,
                                                          std::size_t max_bytes) const {
  // Non-blocking: a FIFO without a writer must not hold us.
  const UniqueFd fd(::openat(fd_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
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

bool Directory::holds(const std::string& name, std::string_view bytes, mode_t mode) const {
  const UniqueFd fd(
      ::openat(fd_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat status{};
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if ((status.st_mode & kModeBits) != mode) return false;
  if (static_cast<std::size_t>(status.st_size) != bytes.size()) return false;
  const auto old = read_all(fd.get(), name, bytes.size());
  return old && *old == bytes;
}

Result<void> Directory::refuse_directory(const std::string& name) const {
  struct stat status{};
  if (::fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISDIR(status.st_mode)) {
    return Error::from_errno(EISDIR, cat(path_, "/", name));
  }
  return {};
}

Result<void> Directory::sync() const {
  if (::fsync(fd_.get()) != 0) return Error::from_errno(errno, cat("sync ", path_));
  return {};
}

Result<void> Directory::replace(const std::string& name, std::string_view bytes, mode_t mode,
                                std::string_view prefix) const {
  MNET_TRY_VOID(refuse_directory(name));
  const auto fill = [bytes](int fd, const std::string& path) -> Result<void> {
    MNET_TRY_VOID(write_all(fd, bytes, path));
    MNET_FAIL_BLOCKING("directory-before-rename");
    return {};
  };
  const Replacement names{.directory = fd_.get(),
                          .prefix = cat(path_, "/"),
                          .temporary = cat(prefix, ".", name, ".", random_number()),
                          .name = name};
  MNET_TRY_VOID(replace_at(names, fill, {.mode = mode}, Durability::kDurable));
  MNET_FAIL_BLOCKING("directory-after-rename");
  return sync();
}

Result<bool> Directory::remove(const std::string& name) const {
  MNET_TRY_VOID(refuse_directory(name));
  if (::unlinkat(fd_.get(), name.c_str(), 0) != 0) {
    if (errno == ENOENT) return false;
    return failed("remove", name, errno);
  }
  MNET_TRY_VOID(sync());
  return true;
}

void Directory::sweep(std::string_view prefix, long age_seconds) const {
  const auto entries = list_directory(path_);
  if (!entries) return;
  const std::time_t now = std::time(nullptr);
  for (const Entry& entry : *entries) {
    if (entry.kind != EntryKind::kRegular || !entry.name.starts_with(cat(prefix, "."))) continue;
    struct stat status{};
    if (::fstatat(fd_.get(), entry.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (now - status.st_mtime >= age_seconds) ::unlinkat(fd_.get(), entry.name.c_str(), 0);
  }
}

}  // namespace mnet::sys
