#include "sys/socket_file.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/random_number.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/fd.h"
#include "sys/file.h"

namespace mnet::sys {
namespace {

constexpr std::size_t kMaxPath = sizeof(sockaddr_un::sun_path) - 1;
constexpr int kBacklog = 4096;  // the kernel clamps it to somaxconn
// Short, so that it fits wherever `multus.sock` fits.
constexpr std::string_view kTemporary = ".s-";

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), kMaxPath));
  return address;
}

// No process listens there, for certain: a full backlog is a listener, too, and a shortage of
// descriptors says nothing.
bool is_refused(int error) {
  return error == ECONNREFUSED || error == ENOENT || error == ENOTDIR || error == EPROTOTYPE;
}

bool is_served_at(const std::string& path) {
  if (path.size() > kMaxPath) return false;
  const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe) return true;
  const sockaddr_un address = address_of(path);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  return ::connect(probe.get(), generic, sizeof address) == 0 || !is_refused(errno);
}

std::string temporary_in(const std::string& directory) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string name = cat(directory == "/" ? "" : directory, "/", kTemporary);
  std::uint64_t random = random_number();
  for (int digit = 0; digit < 6; ++digit, random >>= 4) name += kHex[random & 15];
  return name;
}

enum class Occupant : std::uint8_t { kNone, kSocket, kEmptyDirectory };

Result<Occupant> occupant_of(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return Occupant::kNone;
    return Error::from_errno(errno, cat("stat ", path));
  }
  if (S_ISSOCK(status.st_mode)) return Occupant::kSocket;
  if (!S_ISDIR(status.st_mode)) {
    return Error(Errc::kConflict, cat(path, " exists and is not a socket"));
  }
  MNET_TRY(auto&& entries, list_directory(path));
  if (entries.empty()) return Occupant::kEmptyDirectory;
  return Error(Errc::kConflict, cat(path, " is a directory that is not empty"));
}

// Yields a warning, or the empty text.
Result<std::string> prepare_directory(const std::string& directory) {
  struct stat status{};
  if (::stat(directory.c_str(), &status) != 0) {
    MNET_TRY_VOID(make_directories(directory, 0700));
    return std::string();
  }
  if (!S_ISDIR(status.st_mode)) return Error::from_errno(ENOTDIR, directory);
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) == 0) return std::string();
  return cat("directory ", directory, " is writable by users other than its owner");
}

Result<UniqueFd> listen_at(const std::string& path) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return Error::from_errno(errno, "socket");
  // bind() gives the name the mode of the socket less the umask: never wider than 0600, without
  // changing the umask of all threads.
  if (::fchmod(fd.get(), 0600) != 0) return Error::from_errno(errno, "chmod of a socket");
  const sockaddr_un address = address_of(path);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return Error::from_errno(errno, cat("bind ", path));
  }
  // The umask may have taken even the owner's bits.
  if (::chmod(path.c_str(), 0600) != 0 || ::listen(fd.get(), kBacklog) != 0) {
    const int why = errno;
    ::unlink(path.c_str());
    return Error::from_errno(why, cat("listen ", path));
  }
  return fd;
}

}  // namespace

Result<SocketFile> SocketFile::make(const std::string& path) {
  SocketFile out;
  out.path_ = clean_path(path);
  const std::string directory = directory_of(out.path_);
  const std::string temporary = temporary_in(directory);
  if (std::max(out.path_.size(), temporary.size()) > kMaxPath) {
    return Error(Errc::kInvalid,
                 cat("socket path is longer than ", kMaxPath, " bytes: ", out.path_));
  }

  MNET_TRY(auto&& warning, prepare_directory(directory));
  if (!warning.empty()) out.warnings_.push_back(std::move(warning));
  MNET_TRY(auto&& occupant, occupant_of(out.path_));
  if (occupant == Occupant::kEmptyDirectory) {
    out.warnings_.push_back(cat(out.path_, " is an empty directory; it will be removed"));
  }

  // Of daemons that were killed before they published.
  remove_dead_sockets(directory, kTemporary);
  MNET_TRY(auto&& listener, listen_at(temporary));
  out.listener_ = std::move(listener);
  out.current_ = temporary;
  out.inode_.reset(::open(temporary.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!out.inode_) {
    const int why = errno;
    ::unlink(temporary.c_str());
    return Error::from_errno(why, cat("open ", temporary));
  }
  return out;
}

SocketFile::SocketFile(SocketFile&& other) noexcept
    : path_(std::move(other.path_)),
      current_(std::exchange(other.current_, {})),
      listener_(std::move(other.listener_)),
      inode_(std::move(other.inode_)),
      warnings_(std::move(other.warnings_)) {}

SocketFile::~SocketFile() {
  if (!current_.empty() && name() == Name::kOurs) ::unlink(current_.c_str());
}

SocketFile::Name SocketFile::name() const {
  struct stat ours{};
  struct stat there{};
  if (::lstat(current_.c_str(), &there) != 0) return errno == ENOENT ? Name::kGone : Name::kOurs;
  if (::fstat(inode_.get(), &ours) != 0) return Name::kOurs;
  const bool is_same = ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
  return is_same ? Name::kOurs : Name::kTaken;
}

bool SocketFile::is_served() const { return is_served_at(path_); }

Result<void> SocketFile::publish() {
  if (current_ == path_) return {};
  // Looked at again: hours may lie between make() and this.
  MNET_TRY(auto&& occupant, occupant_of(path_));
  if (occupant == Occupant::kEmptyDirectory && ::rmdir(path_.c_str()) != 0) {
    return Error::from_errno(errno, cat("remove ", path_));
  }
  if (::rename(current_.c_str(), path_.c_str()) != 0) {
    return Error::from_errno(errno, cat("rename ", current_, " ", path_));
  }
  current_ = path_;
  return {};
}

void remove_dead_sockets(const std::string& directory, std::string_view prefix) {
  auto entries = list_directory(directory);
  if (!entries) return;
  for (const Entry& entry : *entries) {
    if (entry.kind != EntryKind::kOther || !entry.name.starts_with(prefix)) continue;
    const std::string path = cat(directory, "/", entry.name);
    if (!is_served_at(path) && errno == ECONNREFUSED) ::unlink(path.c_str());
  }
}

}  // namespace mnet::sys
