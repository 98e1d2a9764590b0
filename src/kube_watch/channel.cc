#include "kube_watch/channel.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/fd.h"
#include "sys/file.h"
#include "sys/file_lock.h"
#include "sys/write_all.h"

namespace mnet::kube_watch {
namespace {

constexpr std::size_t kMostTried = 64u << 10;

// In place: a program that has the channel open goes on seeing it.
Result<void> overwrite(const std::string& path, std::string_view text) {
  const sys::UniqueFd fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0644));
  if (!fd) return Error::from_errno(errno, cat("open ", path));
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return Error(Errc::kInvalid, cat(path, " is not a regular file"));
  }
  return sys::write_all(fd.get(), text, path);
}

}  // namespace

Result<std::optional<Channel>> Channel::make(std::string path, const std::string& subject) {
  MNET_TRY_VOID(sys::make_directories(sys::directory_of(path), 0755));
  MNET_TRY(auto&& lock, sys::FileLock::try_file(cat(path, ".lock")));
  if (!lock) return std::optional<Channel>();
  Channel channel(std::move(path), *std::move(lock));
  MNET_TRY_VOID(channel.claim(subject));
  MNET_TRY_VOID(overwrite(channel.path_, ""));
  return std::optional(std::move(channel));
}

// Another's values must not come to our handler as ours: it would undo what they stand for.
Result<void> Channel::claim(const std::string& subject) {
  const std::string path = cat(path_, ".of"), text = cat(subject, "\n");
  MNET_TRY(auto&& owner, sys::find_file(path));
  if (owner == text) return {};
  if (owner) {
    dropped_ = trim(*owner);
    for (const char* suffix : {".prev", ".tried"}) {
      MNET_TRY([[maybe_unused]] const bool was_there, sys::remove_file(cat(path_, suffix)));
    }
  }
  return sys::replace_file(path, text, 0644);
}

Result<std::string> Channel::load_previous() const {
  MNET_TRY(auto&& text, sys::find_file(cat(path_, ".prev")));
  std::string previous = text.value_or("");
  if (previous.ends_with('\n')) previous.pop_back();
  return previous;
}

Result<void> Channel::begin(const std::string& value, const std::string& previous) const {
  MNET_TRY_VOID(keep_previous(previous));
  MNET_TRY_VOID(note_try(value));
  return overwrite(path_, value);
}

Result<void> Channel::finish(const std::string& value) const {
  MNET_TRY_VOID(keep_previous(value));
  MNET_TRY([[maybe_unused]] const bool was_there, sys::remove_file(cat(path_, ".tried")));
  return overwrite(path_, "");
}

// A handler that fails may have done half of its work: a script that undoes everything must know
// for which values. The oldest are dropped where there are too many.
Result<void> Channel::note_try(const std::string& value) const {
  const std::string path = cat(path_, ".tried"), line = cat(value, "\n");
  MNET_TRY(auto&& tried, sys::find_file(path));
  std::string text = tried.value_or("");
  if (text.ends_with(line)) return {};
  text += line;
  while (text.size() > kMostTried && text.size() > line.size()) {
    text.erase(0, text.find('\n') + 1);
  }
  return sys::replace_file(path, text, 0644);
}

Result<void> Channel::keep_previous(const std::string& value) const {
  const std::string path = cat(path_, ".prev"), text = cat(value, "\n");
  if (const auto there = sys::find_file(path); there && *there == text) return {};
  return sys::replace_file(path, text, 0644);
}

}  // namespace mnet::kube_watch
