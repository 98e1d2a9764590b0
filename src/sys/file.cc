#include "sys/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/fd.h"

namespace mnet::sys {
namespace {

constexpr std::size_t kChunk = 64u << 10;

Error failed(std::string_view doing, std::string_view path, int os_errno) {
  return Error::from_errno(os_errno, cat(doing, " ", path));
}

EntryKind kind_of_mode(mode_t mode) {
  if (S_ISREG(mode)) return EntryKind::kRegular;
  if (S_ISDIR(mode)) return EntryKind::kDirectory;
  if (S_ISLNK(mode)) return EntryKind::kLink;
  return EntryKind::kOther;
}

EntryKind kind_of(int directory, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return kind_of_mode(DTTOIF(entry.d_type));
  struct stat status{};
  if (::fstatat(directory, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return EntryKind::kOther;
  }
  return kind_of_mode(status.st_mode);
}

Result<void> make_directory(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0) {
    // The umask may have taken bits away.
    if (::chmod(path.c_str(), mode) != 0) return failed("chmod", path, errno);
    return {};
  }
  const int why = errno;
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return {};
    return failed("mkdir", path, ENOTDIR);
  }
  return failed("mkdir", path, why);
}

}  // namespace

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<std::string> read_all(int fd, const std::string& path, std::size_t max_bytes) {
  std::string bytes;
  struct stat status{};
  std::size_t room = kChunk;
  // One byte more than the size, so that the end is seen without growing.
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    if (static_cast<std::size_t>(status.st_size) > max_bytes) return failed("read", path, EFBIG);
    room = static_cast<std::size_t>(status.st_size) + 1;
  }
  bytes.resize(room);
  for (std::size_t have = 0;;) {
    if (have == bytes.size()) bytes.resize(have + std::max(kChunk, have));
    const ssize_t got = ::read(fd, bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("read", path, errno);
    have += static_cast<std::size_t>(got);
    if (have > max_bytes) return failed("read", path, EFBIG);
    if (got > 0) continue;
    bytes.resize(have);
    if (bytes.capacity() - have > kChunk / 2) bytes.shrink_to_fit();
    return bytes;
  }
}

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return failed("open", path, errno);
  return read_all(fd.get(), path, max_bytes);
}

Result<std::optional<std::string>> find_file(const std::string& path, std::size_t max_bytes) {
  auto bytes = read_file(path, max_bytes);
  if (bytes) return std::optional<std::string>(*std::move(bytes));
  if (bytes.error().os_errno() == ENOENT) return std::optional<std::string>();
  return std::move(bytes).error();
}

Result<void> visit_directory(const std::string& path,
                             const std::function<void(std::string_view, EntryKind)>& found) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return failed("open", path, errno);
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::fdopendir(fd.get()), ::closedir);
  if (!directory) return failed("open", path, errno);
  const int handle = fd.release();  // the stream owns it now

  for (;;) {
    errno = 0;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream belongs to this call alone
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") found(name, kind_of(handle, *entry));
  }
  return errno == 0 ? Result<void>() : failed("readdir", path, errno);
}

Result<std::vector<Entry>> list_directory(const std::string& path) {
  std::vector<Entry> entries;
  MNET_TRY_VOID(visit_directory(path, [&entries](std::string_view name, EntryKind kind) {
    entries.push_back({std::string(name), kind});
  }));
  std::ranges::sort(entries, {}, &Entry::name);
  return entries;
}

bool exists(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0;
}

bool is_directory(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool is_missing(const Error& error) {
  return error.os_errno() == ENOENT || error.os_errno() == ENOTDIR;
}

Result<void> make_directories(const std::string& path, mode_t mode) {
  const std::string clean = clean_path(path);
  // Mostly it is there, and one look is cheaper than one for each level above it.
  if (is_directory(clean)) return {};
  for (std::size_t slash = clean.find('/', 1); slash != std::string::npos;
       slash = clean.find('/', slash + 1)) {
    MNET_TRY_VOID(make_directory(clean.substr(0, slash), mode));
  }
  return make_directory(clean, mode);
}

}  // namespace mnet::sys
