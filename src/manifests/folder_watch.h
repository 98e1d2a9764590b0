// What happens in the folder, and whether it is there at all: inotify on it, or on what is above it
// as long as it is missing. Nothing blocks, nothing is read.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "manifests/contents.h"
#include "sys/file_events.h"

namespace mnet::manifests {

class FolderWatch {
 public:
  // From here on nothing that happens in the folder is missed.
  static Result<FolderWatch> make(const std::string& folder);

  int fd() const { return inotify_.fd(); }  // readable when take() has something to say
  // What has happened since the last call. An error is about inotify itself: make another.
  Result<Touched> take();

 private:
  FolderWatch(sys::Inotify inotify, std::string folder)
      : inotify_(std::move(inotify)), folder_(std::move(folder)) {}

  Result<void> attach();
  Result<int> watch_above();
  void note(const sys::FileEvent& event, Touched& touched);
  static void note_inside(const sys::FileEvent& event, Touched& touched);

  sys::Inotify inotify_;
  std::string folder_;
  int inside_ = -1;  // the watch of the folder; -1 while it is missing
  int above_ = -1;   // that of the nearest directory above it; -1 while it is there
};

}  // namespace mnet::manifests
