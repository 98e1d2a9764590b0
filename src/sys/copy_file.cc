#include "sys/copy_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/durability.h"
#include "base/error.h"
#include "base/result.h"
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

// A file that is read block by block.
class Blocks {
 public:
  // kInvalid if it is not a regular file.
  static Result<Blocks> open(const std::string& path, int flags) {
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags));
    if (!fd) return Error::from_errno(errno, cat("open ", path));
    struct stat status{};
    if (::fstat(fd.get(), &status) != 0) return Error::from_errno(errno, cat("stat ", path));
    if (!S_ISREG(status.st_mode)) return Error(Errc::kInvalid, cat(path, " is not a regular file"));
    return Blocks(std::move(fd), path, status);
  }

  off_t size() const { return status_.st_size; }
  mode_t mode() const { return status_.st_mode & kModeBits; }

  // What stands at `offset`; less than a block, or nothing, only at the end. Valid until the next
  // call.
  Result<std::string_view> at(off_t offset) {
    block_.resize(kBlock);
    std::size_t have = 0;
    while (have < kBlock) {
      const ssize_t got = ::pread(fd_.get(), block_.data() + have, kBlock - have,
                                  offset + static_cast<off_t>(have));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return Error::from_errno(errno, cat("read ", path_));
      if (got == 0) break;
      have += static_cast<std::size_t>(got);
    }
    return std::string_view(block_).substr(0, have);
  }

 private:
  Blocks(UniqueFd fd, std::string path, const struct stat& status)
      : fd_(std::move(fd)), path_(std::move(path)), status_(status) {}

  UniqueFd fd_;
  std::string path_;
  struct stat status_;
  std::string block_;
};

// A link is replaced by a file of its own: what it points to is not ours.
bool holds(const std::string& path, Blocks& source, mode_t mode) {
  auto old = Blocks::open(path, O_NOFOLLOW);
  if (!old || old->size() != source.size() || old->mode() != mode) return false;
  for (off_t offset = 0;; offset += static_cast<off_t>(kBlock)) {
    const auto ours = old->at(offset), theirs = source.at(offset);
    if (!ours || !theirs || *ours != *theirs) return false;
    if (ours->size() < kBlock) return true;
  }
}

Result<void> write_blocks(Blocks& source, int fd, const std::string& path) {
  for (off_t offset = 0;; offset += static_cast<off_t>(kBlock)) {
    MNET_TRY(const auto& block, source.at(offset));
    MNET_TRY_VOID(write_all(fd, block, path));
    if (block.size() < kBlock) return {};
  }
}

}  // namespace

bool is_same_file(const std::string& a, const std::string& b) {
  const auto first = status_of(a), second = status_of(b);
  return first && second && first->st_dev == second->st_dev && first->st_ino == second->st_ino;
}

Result<bool> copy_file(const std::string& from, const std::string& to, std::optional<mode_t> mode) {
  auto source = Blocks::open(from, 0);
  if (!source) return std::move(source).error();
  if (is_same_file(from, to)) return false;
  const mode_t wanted = mode.value_or(source->mode());
  if (holds(to, *source, wanted)) return false;
  const auto fill = [&source](int fd, const std::string& path) {
    return write_blocks(*source, fd, path);
  };
  MNET_TRY_VOID(replace_with(to, fill, {.mode = wanted}, Durability::kDurable));
  return true;
}

}  // namespace mnet::sys
