#include "kube_watch/channel.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/fd.h"
#include "sys/file.h"
#include "sys/write_all.h"

namespace mnet::kube_watch {
namespace {

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

Result<Channel> Channel::make(std::string path) {
  Channel channel(std::move(path));
  MNET_TRY_VOID(sys::make_directories(sys::directory_of(channel.path_), 0755));
  MNET_TRY_VOID(overwrite(channel.path_, ""));
  return channel;
}

Result<std::string> Channel::load_previous() const {
  MNET_TRY(auto&& text, sys::find_file(cat(path_, ".prev")));
  std::string previous = text.value_or("");
  if (previous.ends_with('\n')) previous.pop_back();
  return previous;
}

Result<void> Channel::begin(const std::string& value, const std::string& previous) const {
  MNET_TRY_VOID(keep_previous(previous));
  return overwrite(path_, value);
}

Result<void> Channel::finish(const std::string& value) const {
  MNET_TRY_VOID(keep_previous(value));
  return overwrite(path_, "");
}

Result<void> Channel::keep_previous(const std::string& value) const {
  const std::string path = cat(path_, ".prev"), text = cat(value, "\n");
  if (const auto there = sys::find_file(path); there && *there == text) return {};
  return sys::replace_file(path, text, 0644);
}

}  // namespace mnet::kube_watch
