// Says that something may have happened in some directories, also in those that are not there now.
// Does not say what: the caller looks at the files again, which covers swapped links, too.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sys/file_events.h"

namespace mnet::sys {

class DirectoryWatch {
 public:
  // From here on nothing is missed. Of a directory that is missing, the nearest one above it is
  // watched until it comes. An error if the kernel has no watch left: look at intervals then.
  static Result<DirectoryWatch> make(std::vector<std::string> directories);

  int fd() const { return inotify_.fd(); }  // readable when take() may have something to say
  // Whether anything has happened since the last call. Never blocks. After an error make another.
  Result<bool> take();

 private:
  DirectoryWatch(Inotify inotify, std::vector<std::string> directories)
      : inotify_(std::move(inotify)), directories_(std::move(directories)) {}

  Result<void> attach();
  Result<std::set<int>> watch_all();
  Result<int> watch_nearest(const std::string& directory);

  Inotify inotify_;
  std::vector<std::string> directories_;
  std::set<int> watches_;
};

}  // namespace mnet::sys
