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

// One mask for all: a second one for a directory that is watched already would replace the first.
// IN_ATTRIB: a file may have become readable.
constexpr std::uint32_t kAnything = IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_FROM | IN_MOVED_TO |
                                    IN_CREATE | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF |
                                    IN_MOVE_SELF | IN_ONLYDIR;

bool is_missing(const Error& error) {
  return error.os_errno() == ENOENT || error.os_errno() == ENOTDIR;
}

}  // namespace

Result<DirectoryWatch> DirectoryWatch::make(std::vector<std::string> directories) {
  MNET_TRY(auto&& inotify, Inotify::make());
  for (std::string& directory : directories) directory = clean_path(directory);
  DirectoryWatch watch(std::move(inotify), std::move(directories));
  MNET_TRY_VOID(watch.attach());
  return watch;
}

Result<bool> DirectoryWatch::take() {
  MNET_TRY(auto&& happened, inotify_.take());
  bool concerns_us = happened.overflow;
  // The end of a watch that was given up is told, too.
  for (const FileEvent& event : happened.events) concerns_us |= watches_.contains(event.watch);
  if (!concerns_us) return false;
  MNET_TRY_VOID(attach());
  return true;
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
  for (const std::string& directory : directories_) {
    MNET_TRY(auto&& watch, watch_nearest(directory));
    watches.insert(watch);
  }
  return watches;
}

Result<int> DirectoryWatch::watch_nearest(const std::string& directory) {
  for (std::string path = directory;; path = directory_of(path)) {
    auto watch = inotify_.watch(path, kAnything);
    const bool is_top = path == "/" || path == ".";
    if (watch || is_top || !is_missing(watch.error())) return watch;
  }
}

}  // namespace mnet::sys
