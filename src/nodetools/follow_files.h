// Tells when files may have changed, whatever way that happened: written in place, replaced,
// removed, made, or swapped through the links of a ConfigMap's volume (04, 2.3). Reads
// nothing: the caller looks and compares.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "aio/readable.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "sys/file_events.h"

namespace mnet::nodetools {

// Another text for another file at the place, or another state of it.
std::string file_state(const struct stat& status);

class FileFollower {
 public:
  struct Settings {
    using Time = std::chrono::milliseconds;
    Time quiet{100};          // without an event, until a change is reported
    Time longest{1000};       // from the first event on
    Time look_again{30'000};  // where no event may come: network file systems, lost ones
    Time look_alone{5'000};   // where the kernel has no inotify left for us: others use them up
    std::string root = {};    // absolute links below it lead to what is below it
    // Called once with the reason if there are no events.
    std::function<void(const std::string&)> warn = [](const std::string&) {};
  };

  static Result<FileFollower> make(aio::asio::any_io_executor executor, Settings settings);

  // Absolute paths, which need not exist: as much of each as exists is watched. From here on
  // nothing is missed; equal paths cost nothing.
  Result<void> follow(std::set<std::string> paths);

  // Until one of them may have changed since the last call or follow(). Cancellable; one at a time.
  aio::Task<void> wait();

 private:
  // By path, what it leads to, links and all: equal states, equal files.
  using States = std::map<std::string, std::string>;
  // Names that matter in a directory; empty for a file that is watched itself.
  using Names = std::set<std::string>;
  struct Wanted {
    std::map<std::string, Names> directories;
    std::set<std::string> files;
    States states;
  };

  FileFollower(aio::asio::any_io_executor executor, Settings settings)
      : settings_(std::move(settings)), executor_(std::move(executor)) {}

  Wanted wanted() const;
  void resolve(const std::string& path, Wanted& out) const;
  Result<void> arm();
  void watch_all(const Wanted& wanted);
  void go_without_events(const Error& why);
  // kTimeout without one.
  aio::Task<void> wait_for_event(aio::Readable* readable, aio::Deadline until);
  // Whether something that matters has happened.
  Result<bool> take();

  const Settings settings_;
  std::optional<sys::Inotify> inotify_;  // none: we look instead
  bool has_all_watches_ = true;
  aio::asio::any_io_executor executor_;
  std::set<std::string> paths_;
  std::map<int, Names> watches_;  // by number; a file's has no names
  States states_;
  bool is_changed_ = false;  // seen while arming
};

}  // namespace mnet::nodetools
