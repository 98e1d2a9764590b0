#include "sys/copy_file.h"

#include <sys/stat.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "sys/file.h"

namespace mnet::sys {
namespace {

constexpr std::size_t kLargest = 512u << 20;
constexpr mode_t kModeBits = 07777;

Result<struct stat> status_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return Error::from_errno(errno, cat("stat ", path));
  return status;
}

// A link is replaced by a file of its own: what it points to is somebody else's.
bool holds(const std::string& path, const std::string& bytes, mode_t mode) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if (static_cast<std::size_t>(status.st_size) != bytes.size()) return false;
  if ((status.st_mode & kModeBits) != mode) return false;
  const auto old = read_file(path, kLargest);
  return old && *old == bytes;
}

}  // namespace

bool is_same_file(const std::string& a, const std::string& b) {
  const auto first = status_of(a), second = status_of(b);
  return first && second && first->st_dev == second->st_dev && first->st_ino == second->st_ino;
}

Result<bool> copy_file(const std::string& from, const std::string& to, std::optional<mode_t> mode) {
  auto source = status_of(from);
  if (!source) return std::move(source).error();
  if (is_same_file(from, to)) return false;
  auto bytes = read_file(from, kLargest);
  if (!bytes) return std::move(bytes).error();
  const mode_t wanted = mode.value_or(source->st_mode & kModeBits);
  if (holds(to, *bytes, wanted)) return false;
  auto written = replace_file(to, *bytes, wanted);
  if (!written) return std::move(written).error();
  return true;
}

}  // namespace mnet::sys
