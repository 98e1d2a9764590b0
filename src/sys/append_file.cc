#include "sys/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/fd.h"
#include "sys/write_all.h"

namespace mnet::sys {
namespace {

// O_NONBLOCK: a FIFO without a reader is an error, and a full pipe loses a line instead of stopping
// the event loop.
constexpr int kFlags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

Error failed(std::string_view doing, std::string_view path) {
  return Error::from_errno(errno, cat(doing, " ", path));
}

// Only a new file gets the mode, hence the two attempts.
Result<UniqueFd> open_or_make(const std::string& path, mode_t mode) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    UniqueFd fd(::open(path.c_str(), kFlags));
    if (fd) return fd;
    if (errno != ENOENT) break;
    fd.reset(::open(path.c_str(), kFlags | O_CREAT | O_EXCL, mode));
    if (fd) {
      // The umask may have taken bits away.
      if (::fchmod(fd.get(), mode) != 0) return failed("chmod", path);
      return fd;
    }
    if (errno != EEXIST) break;  // EEXIST: another process was faster
  }
  return failed("open", path);
}

}  // namespace

Result<AppendFile> AppendFile::open(const std::string& path, mode_t mode) {
  MNET_TRY(auto&& fd, open_or_make(path, mode));
  AppendFile file(path);
  MNET_TRY_VOID(file.hold(std::move(fd)));
  return file;
}

Result<void> AppendFile::hold(UniqueFd fd) {
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return failed("stat", path_);
  fd_ = std::move(fd);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  return {};
}

std::optional<std::uint64_t> AppendFile::size() const {
  struct stat named{};
  if (::stat(path_.c_str(), &named) != 0) return std::nullopt;
  if (named.st_dev != device_ || named.st_ino != inode_) return std::nullopt;
  return S_ISREG(named.st_mode) ? static_cast<std::uint64_t>(named.st_size) : 0;
}

Result<void> AppendFile::append(std::string_view line) {
  // In one write, but where the disk becomes full in the middle of the line.
  return write_all(fd_.get(), line, path_);
}

Result<void> AppendFile::put_aside(const std::string& aside) {
  struct stat old{};
  if (::fstat(fd_.get(), &old) != 0) return failed("stat", path_);
  if (::rename(path_.c_str(), aside.c_str()) != 0) return failed("rename", cat(path_, " ", aside));

  MNET_TRY(auto&& fd, open_or_make(path_, old.st_mode & 07777));
  // Users that could read the old one can read the new one. Without the right to give files away it
  // stays ours.
  [[maybe_unused]] const int given = ::fchown(fd.get(), old.st_uid, old.st_gid);
  return hold(std::move(fd));
}

}  // namespace mnet::sys
