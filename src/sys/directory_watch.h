// Says that something may have happened in some directories, even in those that are not there now.
#pragma once

#include <sys/inotify.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sys/file_events.h"

namespace mnet::sys {

class DirectoryWatch {
 public:
  // One mask for all: a second one for a directory that is watched already would replace the first.
  // IN_ATTRIB: a file may have become readable.
  static constexpr std::uint32_t kClosed = IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO |
                                           IN_CREATE | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF |
                                           IN_MOVE_SELF | IN_ONLYDIR;
  static constexpr std::uint32_t kAnything = kClosed | IN_MODIFY;

  struct Changes {
    bool happened = false;
    bool lost = false;              // what has happened is not known, or a directory came or went
    std::vector<FileEvent> events;  // inside the directories
  };

  // From here on nothing is missed. Of a directory that is missing, the nearest one above it is
  // watched until it comes. An error if the kernel has no watch left: look at intervals then.
  static Result<DirectoryWatch> make(std::vector<std::string> directories,
                                     std::uint32_t mask = kAnything);

  int fd() const { return inotify_.fd(); }  // readable when take() may have something to say
  // What has happened since the last call. Never blocks. After an error make another.
  Result<Changes> take_changes();
  // Only whether: the caller looks at the files again, which covers swapped links, too.
  Result<bool> take();

 private:
  DirectoryWatch(Inotify inotify, std::vector<std::string> directories, std::uint32_t mask)
      : inotify_(std::move(inotify)), directories_(std::move(directories)), mask_(mask) {}

  Result<void> attach();
  Result<std::set<int>> watch_all();
  Result<int> watch_nearest(const std::string& directory);

  Inotify inotify_;
  std::vector<std::string> directories_;
  std::uint32_t mask_;
  std::set<int> watches_;
  std::set<int> inside_;  // those of the directories themselves, not of what is above them
};

}  // namespace mnet::sys
