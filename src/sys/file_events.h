// inotify with an owner: watches, and events as values. (Not called inotify.h: <sys/inotify.h>
// would find it.)
#pragma once

#include <sys/inotify.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"

namespace mnet::sys {

struct FileEvent {
  int watch = -1;
  std::uint32_t mask = 0;  // IN_...; IN_IGNORED: the watch is gone
  std::string name;        // inside a watched directory; empty for what is watched itself
};

struct FileEvents {
  std::vector<FileEvent> events;  // in the order they happened
  bool overflow = false;          // some were lost: look at everything anew
};

class Inotify {
 public:
  static Result<Inotify> make();

  int fd() const { return fd_.get(); }  // non-blocking; readable when events wait
  // Yields the watch's number, which events carry. Watching the same path again changes its mask.
  Result<int> watch(const std::string& path, std::uint32_t mask);
  // Does nothing if the watch is gone by itself.
  void forget(int watch);
  // What has happened since the last call; empty if nothing has. Never blocks.
  Result<FileEvents> take();

 private:
  UniqueFd fd_;
};

}  // namespace mnet::sys
