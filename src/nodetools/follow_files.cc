#include "nodetools/follow_files.h"

#include <linux/limits.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "aio/all.h"
#include "aio/readable.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/file_events.h"

namespace mnet::nodetools {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint32_t kInDirectory = IN_CREATE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE |
                                       IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF |
                                       IN_ONLYDIR;
constexpr std::uint32_t kOfFile =
    IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;
constexpr std::uint32_t kOfItself = IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT;
constexpr int kMaxLinks = 40;

std::deque<std::string> components(std::string_view path) {
  std::deque<std::string> out;
  for (const std::string_view part : split(path, '/')) {
    if (!part.empty() && part != ".") out.emplace_back(part);
  }
  return out;
}

bool is_used_up(const Error& error) {
  return error.os_errno() == EMFILE || error.os_errno() == ENOSPC;
}

std::string target_of_link(const std::string& path) {
  std::string target(PATH_MAX, '\0');
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  target.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return target;
}

}  // namespace

std::string file_state(const struct stat& status) {
  return cat(status.st_dev, ":", status.st_ino, ":", status.st_size, ":", status.st_mtim.tv_sec,
             ".", status.st_mtim.tv_nsec, ":", status.st_mode);
}

Result<FileFollower> FileFollower::make(aio::asio::any_io_executor executor, Settings settings) {
  FileFollower follower(std::move(executor), std::move(settings));
  auto inotify = sys::Inotify::make();
  if (inotify) {
    follower.inotify_ = *std::move(inotify);
  } else if (is_used_up(inotify.error())) {
    follower.go_without_events(inotify.error());
  } else {
    return std::move(inotify).error();
  }
  return follower;
}

// All processes of a user share what the kernel has of these.
void FileFollower::go_without_events(const Error& why) {
  if (!std::exchange(has_all_watches_, false)) return;
  const auto pause = std::chrono::duration_cast<std::chrono::seconds>(settings_.look_alone);
  settings_.warn(cat("warning: ", why.text(), ": without events, files are looked at every ",
                     pause.count(), " s; raise fs.inotify.max_user_instances or max_user_watches"));
}

Result<void> FileFollower::follow(std::set<std::string> paths) {
  if (paths == paths_) return {};
  paths_ = std::move(paths);
  const States before = states_;
  MNET_TRY_VOID(arm());
  // Files that changed while the watches were set up again are reported, too.
  for (const auto& [path, seen] : before) {
    const auto now = states_.find(path);
    if (now != states_.end() && now->second != seen) is_changed_ = true;
  }
  return {};
}

// Walks the path as the kernel does and notes each directory in which a name of it is looked up:
// links included, up to what does not exist.
void FileFollower::resolve(const std::string& path, Wanted& out) const {
  const bool is_below = !settings_.root.empty() && path.starts_with(settings_.root + "/");
  const std::string root = is_below ? settings_.root : "/";
  std::deque<std::string> rest = components(path);
  std::string at = "/";
  std::string seen;
  int links = 0;
  while (!rest.empty()) {
    const std::string name = rest.front();
    rest.pop_front();
    if (name == "..") {
      at = clean_path(cat(at, "/.."));
      continue;
    }
    const std::string here = at == "/" ? cat("/", name) : cat(at, "/", name);
    struct stat status{};
    const bool is_there = ::lstat(here.c_str(), &status) == 0;
    const bool is_link = is_there && S_ISLNK(status.st_mode);
    if (!is_there || is_link || rest.empty()) out.directories[at].insert(name);
    if (!is_there) break;
    if (is_link) {
      if (++links > kMaxLinks) break;
      const std::string target = target_of_link(here);
      seen += cat(target, ";");
      auto more = components(target);
      rest.insert(rest.begin(), more.begin(), more.end());
      if (target.starts_with('/')) at = root;
      continue;
    }
    if (rest.empty()) {
      out.files.insert(here);
      seen += file_state(status);
    }
    at = here;
  }
  out.states[path] = seen;
}

FileFollower::Wanted FileFollower::wanted() const {
  Wanted out;
  for (const std::string& path : paths_) resolve(path, out);
  return out;
}

// What is gone meanwhile, the next look, which follows at once, knows better.
void FileFollower::watch_all(const Wanted& wanted) {
  if (!inotify_) return;
  const auto watch = [this](const std::string& path, std::uint32_t mask) {
    auto made = inotify_->watch(path, mask);
    if (!made && is_used_up(made.error())) go_without_events(made.error());
    return made;
  };
  for (const auto& [directory, names] : wanted.directories) {
    const auto made = watch(directory, kInDirectory);
    if (made) watches_[*made].insert(names.begin(), names.end());
  }
  for (const std::string& file : wanted.files) {
    const auto made = watch(file, kOfFile);
    if (made) watches_.try_emplace(*made);
  }
}

// Watches first and looks afterwards, until both agree: what changes in between is seen by one of
// them.
Result<void> FileFollower::arm() {
  Wanted before = wanted();
  for (int attempt = 0; attempt < 10; ++attempt) {
    watches_.clear();
    watch_all(before);
    Wanted after = wanted();
    const bool is_settled = after.directories == before.directories && after.files == before.files;
    before = std::move(after);
    if (is_settled) break;
  }
  states_ = std::move(before.states);
  return {};
}

Result<bool> FileFollower::take() {
  MNET_TRY(auto&& happened, inotify_->take());
  bool matters = happened.overflow;
  for (const sys::FileEvent& event : happened.events) {
    const auto watch = watches_.find(event.watch);
    if (watch == watches_.end()) {
      // Left from an earlier arming, and no longer needed.
      if ((event.mask & IN_IGNORED) == 0) inotify_->forget(event.watch);
      continue;
    }
    const bool is_of_itself = event.name.empty() || (event.mask & kOfItself) != 0;
    if (is_of_itself || watch->second.contains(event.name)) matters = true;
  }
  return matters;
}

aio::Task<void> FileFollower::wait_for_event(aio::Readable* readable, aio::Deadline until) {
  if (readable != nullptr) co_return co_await aio::with_deadline(readable->wait(), until);
  MNET_CO_TRY_VOID(co_await aio::sleep_until(until));
  co_return Error(Errc::kTimeout, "no event");
}

aio::Task<void> FileFollower::wait() {
  std::optional<aio::Readable> readable;
  if (inotify_) readable.emplace(executor_, inotify_->fd());
  std::optional<Clock::time_point> first;
  if (std::exchange(is_changed_, false)) first = Clock::now();
  for (;;) {
    const auto now = Clock::now();
    const auto pause = has_all_watches_ ? settings_.look_again : settings_.look_alone;
    const auto until =
        first ? std::min(now + settings_.quiet, *first + settings_.longest) : now + pause;
    auto ready = co_await wait_for_event(readable ? &*readable : nullptr, until);
    if (!ready && ready.error().code() != Errc::kTimeout) co_return ready;
    if (ready) {
      MNET_CO_TRY(auto&& matters, take());
      if (matters && !first) first = Clock::now();
      if (!first || Clock::now() < *first + settings_.longest) continue;
    }
    const States before = states_;
    MNET_CO_TRY_VOID(arm());
    if (first || states_ != before) co_return Result<void>();
  }
}

}  // namespace mnet::nodetools
