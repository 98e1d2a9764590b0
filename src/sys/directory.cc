#include "sys/directory.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/failpoint.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/fd.h"
#include "sys/file.h"

namespace mnet::sys {
namespace {

constexpr mode_t kModeBits = 07777;

std::string temporary_name(std::string_view prefix, const std::string& name) {
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random) random = 0;  // EEXIST tells
  return cat(prefix, ".", name, ".", random);
}

// Removes the temporary name unless it was renamed away.
class Temporary {
 public:
  Temporary(int directory, std::string name) : directory_(directory), name_(std::move(name)) {}
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (!name_.empty()) ::unlinkat(directory_, name_.c_str(), 0);
  }
  const std::string& name() const { return name_; }
  void renamed() { name_.clear(); }

 private:
  int directory_;
  std::string name_;
};

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

Result<void> Directory::write_new(const std::string& name, std::string_view bytes,
                                  mode_t mode) const {
  // Nobody may read a secret between creation and fchmod, hence the narrow mode first.
  UniqueFd fd(::openat(fd_.get(), name.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return failed("open", name, errno);
  if (::fchmod(fd.get(), mode) != 0) return failed("chmod", name, errno);
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed("write", name, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(fd.get()) != 0) return failed("sync", name, errno);
  // Where writes are delayed (quota, network file systems) only close() knows.
  if (::close(fd.release()) != 0 && errno != EINTR) return failed("close", name, errno);
  return {};
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
  Temporary temporary(fd_.get(), temporary_name(prefix, name));
  MNET_TRY_VOID(write_new(temporary.name(), bytes, mode));
  MNET_FAIL_BLOCKING("directory-before-rename");
  if (::renameat(fd_.get(), temporary.name().c_str(), fd_.get(), name.c_str()) != 0) {
    return failed("rename", name, errno);
  }
  temporary.renamed();
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
