#include "kube_watch/channel.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "sys/fd.h"
#include "sys/file.h"

namespace mnet::kube_watch {
namespace {

// In place: whoever has the channel open goes on seeing it.
Result<void> overwrite(const std::string& path, std::string_view text) {
  const sys::UniqueFd fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0644));
  if (!fd) return Error::from_errno(errno, cat("open ", path));
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return Error(Errc::kInvalid, cat(path, " is no regular file"));
  }
  while (!text.empty()) {
    const ssize_t written = ::write(fd.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Error::from_errno(errno, cat("write ", path));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

Result<Channel> Channel::make(std::string path) {
  Channel channel(std::move(path));
  auto made = sys::make_directories(sys::directory_of(channel.path_), 0755);
  if (!made) return std::move(made).error();
  if (auto emptied = overwrite(channel.path_, ""); !emptied) return std::move(emptied).error();
  return channel;
}

Result<std::string> Channel::load_previous() const {
  auto text = sys::find_file(cat(path_, ".prev"));
  if (!text) return std::move(text).error();
  std::string previous = text->value_or("");
  if (previous.ends_with('\n')) previous.pop_back();
  return previous;
}

Result<void> Channel::begin(const std::string& value, const std::string& previous) const {
  if (auto kept = keep_previous(previous); !kept) return kept;
  return overwrite(path_, value);
}

Result<void> Channel::finish(const std::string& value) const {
  if (auto kept = keep_previous(value); !kept) return kept;
  return overwrite(path_, "");
}

Result<void> Channel::keep_previous(const std::string& value) const {
  const std::string path = cat(path_, ".prev"), text = cat(value, "\n");
  if (const auto there = sys::find_file(path); there && *there == text) return {};
  return sys::replace_file(path, text, 0644);
}

}  // namespace mnet::kube_watch
