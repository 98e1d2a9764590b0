#include "sys/copy_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/durability.h"
#include "base/error.h"
#include "base/result.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/fd.h"
#include "sys/replacing.h"
#include "sys/write_all.h"

namespace mnet::sys {
namespace {

constexpr std::size_t kBlock = 256u << 10;
constexpr mode_t kModeBits = 07777;

Result<struct stat> status_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return Error::from_errno(errno, cat("stat ", path));
  return status;
}

// A link is replaced by a file of its own: what it points to is not ours.
bool holds(const std::string& path, Blocks& source, mode_t mode) {
  auto old = Blocks::open(AT_FDCWD, path, O_NOFOLLOW, path);
  return old && old->mode() == mode && old->equals(source).value_or(false);
}

}  // namespace

Result<Blocks> Blocks::open(int directory, const std::string& path, int flags, std::string name) {
  // Non-blocking: a FIFO without a writer must not hold us.
  UniqueFd fd(
      ::openat(directory, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags));
  if (!fd) return Error::from_errno(errno, cat("open ", name));
  return of(std::move(fd), std::move(name));
}

Result<Blocks> Blocks::of(UniqueFd fd, std::string name) {
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return Error::from_errno(errno, cat("stat ", name));
  if (S_ISDIR(status.st_mode)) return Error::from_errno(EISDIR, cat("read ", name));
  if (!S_ISREG(status.st_mode)) return Error(Errc::kInvalid, cat(name, " is not a regular file"));
  return Blocks(std::move(fd), std::move(name), status);
}

Blocks Blocks::of(std::string_view text) {
  struct stat status{};
  status.st_size = static_cast<off_t>(text.size());
  Blocks out(UniqueFd(), "text", status);
  out.text_ = text;
  return out;
}

mode_t Blocks::mode() const { return status_.st_mode & kModeBits; }

Result<std::string_view> Blocks::at(off_t offset) {
  if (!fd_) {
    return text_.substr(std::min(static_cast<std::size_t>(offset), text_.size()), kBlock);
  }
  block_.resize(kBlock);
  std::size_t have = 0;
  while (have < kBlock) {
    const ssize_t got =
        ::pread(fd_.get(), block_.data() + have, kBlock - have, offset + static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno(errno, cat("read ", name_));
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  return std::string_view(block_).substr(0, have);
}

Result<bool> Blocks::equals(Blocks& other) {
  if (size() != other.size()) return false;
  for (off_t offset = 0;; offset += static_cast<off_t>(kBlock)) {
    MNET_TRY(const auto& ours, at(offset));
    MNET_TRY(const auto& theirs, other.at(offset));
    if (ours != theirs) return false;
    if (ours.size() < kBlock) return true;
  }
}

Result<std::string> Blocks::sha256() {
  Sha256 hash;
  for (off_t offset = 0;; offset += static_cast<off_t>(kBlock)) {
    MNET_TRY(const auto& block, at(offset));
    hash.add(block);
    if (block.size() < kBlock) return hash.hex();
  }
}

Result<void> Blocks::write_to(int fd, const std::string& path, const std::string& expected) {
  Sha256 hash;
  for (off_t offset = 0;; offset += static_cast<off_t>(kBlock)) {
    MNET_TRY(const auto& block, at(offset));
    MNET_TRY_VOID(write_all(fd, block, path));
    if (!expected.empty()) hash.add(block);
    if (block.size() < kBlock) break;
  }
  if (expected.empty() || hash.hex() == expected) return {};
  return Error(Errc::kConflict, cat(name_, " changed while it was copied"));
}

bool is_same_file(const std::string& a, const std::string& b) {
  const auto first = status_of(a), second = status_of(b);
  return first && second && first->st_dev == second->st_dev && first->st_ino == second->st_ino;
}

Result<bool> copy_file(const std::string& from, const std::string& to, std::optional<mode_t> mode) {
  auto source = Blocks::open(AT_FDCWD, from, 0, from);
  if (!source) return std::move(source).error();
  if (is_same_file(from, to)) return false;
  const mode_t wanted = mode.value_or(source->mode());
  if (holds(to, *source, wanted)) return false;
  const auto fill = [&source](int fd, const std::string& path) {
    return source->write_to(fd, path);
  };
  MNET_TRY_VOID(replace_with(to, fill, {.mode = wanted}, Durability::kDurable));
  return true;
}

}  // namespace mnet::sys
