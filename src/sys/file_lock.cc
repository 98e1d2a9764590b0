#include "sys/file_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"

// <sys/file.h> would be our own sys/file.h (docs/pitfalls.md).
extern "C" int flock(int fd, int operation) noexcept;

namespace mnet::sys {
namespace {

constexpr int kShare = 1;   // LOCK_SH
constexpr int kAlone = 2;   // LOCK_EX
constexpr int kAtOnce = 4;  // LOCK_NB
constexpr std::chrono::milliseconds kBetweenTries{20};

Result<void> lock(int fd, int operation, const std::string& path) {
  while (::flock(fd, operation) != 0) {
    if (errno != EINTR) return Error::from_errno(errno, cat("lock ", path));
  }
  return {};
}

bool is_taken(const Result<void>& locked) {
  return !locked && locked.error().os_errno() == EWOULDBLOCK;
}

Result<FileLock> try_within(const std::function<Result<std::optional<FileLock>>()>& once,
                            const std::string& path, std::chrono::milliseconds patience,
                            const FileLock::Stops& stops) {
  const auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    MNET_TRY(auto&& lock, once());
    if (lock) return *std::move(lock);
    if (stops && stops())
      return Error(Errc::kCancelled, cat("lock ", path, ": interrupted by a stop signal"));
    if (std::chrono::steady_clock::now() >= end) {
      return Error(Errc::kTimeout,
                   cat("lock ", path, ": another process has held it for too long"));
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

// Whether the name still means what was opened: the holder before us removed it.
bool is_still_there(int fd, const std::string& path) {
  struct stat opened{};
  struct stat named{};
  if (::fstat(fd, &opened) != 0 || ::stat(path.c_str(), &named) != 0) return false;
  return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  if (this == &other) return *this;
  release();
  fd_ = std::move(other.fd_);
  path_ = std::exchange(other.path_, {});
  was_left_ = other.was_left_;
  return *this;
}

Result<FileLock> FileLock::take_file(const std::string& path) {
  for (;;) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd) return Error::from_errno(errno, cat("open ", path));
    MNET_TRY_VOID(lock(fd.get(), kAlone, path));
    if (is_still_there(fd.get(), path)) return FileLock(std::move(fd), path);
  }
}

Result<std::optional<FileLock>> FileLock::try_file(const std::string& path) {
  for (;;) {
    constexpr int kFlags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
    UniqueFd fd(::open(path.c_str(), kFlags | O_EXCL, 0600));
    const bool was_there = !fd && errno == EEXIST;
    if (was_there) fd.reset(::open(path.c_str(), kFlags, 0600));
    if (!fd) return Error::from_errno(errno, cat("open ", path));
    auto locked = lock(fd.get(), kAlone | kAtOnce, path);
    if (is_taken(locked)) return std::optional<FileLock>();
    if (!locked) return std::move(locked).error();
    if (!is_still_there(fd.get(), path)) continue;
    FileLock taken(std::move(fd), path);
    taken.was_left_ = was_there;
    return std::optional(std::move(taken));
  }
}

Result<FileLock> FileLock::take_file_within(const std::string& path,
                                            std::chrono::milliseconds patience,
                                            const Stops& stops) {
  return try_within([&] { return try_file(path); }, path, patience, stops);
}

Result<FileLock> FileLock::take_directory_within(UniqueFd fd, const std::string& path,
                                                 std::chrono::milliseconds patience,
                                                 const Stops& stops) {
  const auto once = [&]() -> Result<std::optional<FileLock>> {
    auto locked = lock(fd.get(), kAlone | kAtOnce, path);
    if (is_taken(locked)) return std::optional<FileLock>();
    if (!locked) return std::move(locked).error();
    return std::optional(FileLock(std::move(fd), {}));
  };
  return try_within(once, path, patience, stops);
}

Result<FileLock> FileLock::take_directory(const std::string& path, Kind kind) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return Error::from_errno(errno, cat("open ", path));
  MNET_TRY_VOID(lock(fd.get(), kind == Kind::kShared ? kShare : kAlone, path));
  return FileLock(std::move(fd), {});
}

Result<Presence> Presence::make(const std::string& directory) {
  UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return Error::from_errno(errno, cat("open ", directory));
  struct flock whole{};
  whole.l_type = F_RDLCK;
  if (::fcntl(fd.get(), F_OFD_SETLK, &whole) != 0) {
    return Error::from_errno(errno, cat("lock ", directory));
  }
  return Presence(std::move(fd), directory);
}

// Asks what would keep us from a lock for ourselves alone, which our own shared one does not.
Result<bool> Presence::is_alone() const {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  if (::fcntl(fd_.get(), F_OFD_GETLK, &whole) != 0) {
    return Error::from_errno(errno, cat("looking for other locks of ", directory_));
  }
  return whole.l_type == F_UNLCK;
}

void FileLock::release() {
  // Removed while it is held: a waiting process finds the name gone, or another file under it.
  if (fd_ && !path_.empty()) ::unlink(path_.c_str());
  path_.clear();
  fd_.reset();
}

}  // namespace mnet::sys
