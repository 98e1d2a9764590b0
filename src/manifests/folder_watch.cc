#include "manifests/folder_watch.h"

#include <sys/inotify.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "manifests/contents.h"
#include "sys/file.h"
#include "sys/file_events.h"

namespace mnet::manifests {
namespace {

// IN_ATTRIB: a file may have become readable.
constexpr std::uint32_t kInside = IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE |
                                  IN_DELETE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF |
                                  IN_ONLYDIR;
constexpr std::uint32_t kAbove =
    IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
constexpr std::uint32_t kGone = IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT;

bool is_missing(const Error& error) {
  return error.os_errno() == ENOENT || error.os_errno() == ENOTDIR;
}

}  // namespace

Result<FolderWatch> FolderWatch::make(const std::string& folder) {
  MNET_TRY(auto&& inotify, sys::Inotify::make());
  FolderWatch watch(std::move(inotify), clean_path(folder));
  MNET_TRY_VOID(watch.attach());
  return watch;
}

Result<void> FolderWatch::attach() {
  for (;;) {
    auto inside = inotify_.watch(folder_, kInside);
    if (inside) {
      inside_ = *inside;
      if (above_ >= 0) inotify_.forget(std::exchange(above_, -1));
      return {};
    }
    if (!is_missing(inside.error())) return std::move(inside).error();

    MNET_TRY(auto&& above, watch_above());
    // It was watched already when the folder was looked for: the folder's coming cannot have been
    // missed.
    if (above == above_) return {};
    if (above_ >= 0) inotify_.forget(above_);
    above_ = above;
  }
}

Result<int> FolderWatch::watch_above() {
  for (std::string path = sys::directory_of(folder_);; path = sys::directory_of(path)) {
    auto watch = inotify_.watch(path, kAbove);
    const bool is_top = path == "/" || path == ".";
    if (watch || is_top || !is_missing(watch.error())) return watch;
  }
}

Result<Touched> FolderWatch::take() {
  MNET_TRY(auto&& happened, inotify_.take());

  Touched touched;
  for (const sys::FileEvent& event : happened.events) note(event, touched);
  if (happened.overflow) {
    // The end of the watch may be among what was lost. Watching again what is watched is harmless.
    inside_ = -1;
    touched.everything = true;
  }
  if (inside_ >= 0) return touched;
  MNET_TRY_VOID(attach());
  if (inside_ >= 0) touched.everything = true;
  return touched;
}

void FolderWatch::note(const sys::FileEvent& event, Touched& touched) {
  const bool gone = (event.mask & kGone) != 0;
  if (event.watch == inside_ && gone) {
    inotify_.forget(std::exchange(inside_, -1));
    touched.everything = true;
  } else if (event.watch == inside_) {
    note_inside(event, touched);
  } else if (event.watch == above_ && gone) {
    inotify_.forget(std::exchange(above_, -1));
  }
}

void FolderWatch::note_inside(const sys::FileEvent& event, Touched& touched) {
  // `..data`: a ConfigMap's volume is exchanged as a whole. `#123`: a file without a name was
  // written and then linked to one.
  if (event.name.starts_with("..") || event.name.starts_with('#')) touched.everything = true;
  if (!is_manifest_name(event.name) || (event.mask & IN_ISDIR) != 0) return;
  auto& names = (event.mask & IN_CREATE) != 0 ? touched.created : touched.written;
  names.insert(event.name);
}

}  // namespace mnet::manifests
