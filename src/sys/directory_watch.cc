#include "sys/directory_watch.h"

#include <sys/inotify.h>

#include <cerrno>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/file.h"
#include "sys/file_events.h"

namespace mnet::sys {
namespace {

constexpr std::uint32_t kGone = IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT;

}  // namespace

Result<DirectoryWatch> DirectoryWatch::make(std::vector<std::string> directories,
                                            std::uint32_t mask) {
  MNET_TRY(auto&& inotify, Inotify::make());
  for (std::string& directory : directories) directory = clean_path(directory);
  DirectoryWatch watch(std::move(inotify), std::move(directories), mask);
  MNET_TRY_VOID(watch.attach());
  return watch;
}

Result<DirectoryWatch::Changes> DirectoryWatch::take_changes() {
  MNET_TRY(auto&& taken, inotify_.take());
  Changes changes{.happened = taken.overflow, .lost = taken.overflow, .events = {}};
  for (FileEvent& event : taken.events) {
    // inotify also reports the end of watches that we removed.
    if (!watches_.contains(event.watch)) continue;
    changes.happened = true;
    if (!inside_.contains(event.watch)) continue;
    if ((event.mask & kGone) != 0) {
      changes.lost = true;
    } else {
      changes.events.push_back(std::move(event));
    }
  }
  if (!changes.happened) return changes;
  const std::set<int> before = inside_;
  MNET_TRY_VOID(attach());
  if (inside_ != before) changes.lost = true;
  return changes;
}

Result<bool> DirectoryWatch::take() {
  MNET_TRY(const auto& changes, take_changes());
  return changes.happened;
}

// A directory may come between the look for it and the watch above it: only when a second round
// ends with the same watches, all of them were in place before it looked.
Result<void> DirectoryWatch::attach() {
  auto found = watch_all();
  for (;;) {
    if (!found) return std::move(found).error();
    auto again = watch_all();
    const bool is_settled = again && *again == *found;
    found = std::move(again);
    if (is_settled) break;
  }
  for (const int watch : std::exchange(watches_, *std::move(found))) {
    if (!watches_.contains(watch)) inotify_.forget(watch);
  }
  return {};
}

Result<std::set<int>> DirectoryWatch::watch_all() {
  std::set<int> watches;
  inside_.clear();
  for (const std::string& directory : directories_) {
    MNET_TRY(auto&& watch, watch_nearest(directory));
    watches.insert(watch);
  }
  return watches;
}

Result<int> DirectoryWatch::watch_nearest(const std::string& directory) {
  for (std::string path = directory;; path = directory_of(path)) {
    auto watch = inotify_.watch(path, mask_);
    if (watch && path == directory) inside_.insert(*watch);
    const bool is_top = path == "/" || path == ".";
    if (watch || is_top || !is_missing(watch.error())) return watch;
  }
}

}  // namespace mnet::sys
