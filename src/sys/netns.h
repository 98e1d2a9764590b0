// Network namespaces: opening, comparing, entering.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/netns_id.h"
#include "base/result.h"
#include "sys/fd.h"

namespace mnet::sys {

class NetNs {
 public:
  // Opens a namespace file and checks that it is one (nsfs). A path below /var/run/ that does not
  // exist is tried below /run/ (03, 7). `no such file`, `not a network namespace` and the path are
  // in the error.
  static Result<NetNs> open(const std::string& path);
  // The path as a process sees it whose root directory is `root`. Not for paths of /proc.
  static Result<NetNs> open_below(const std::string& root, const std::string& path);
  // Of the calling thread.
  static Result<NetNs> own();

  NetnsId id() const { return id_; }
  int fd() const { return fd_.get(); }

 private:
  static Result<NetNs> of(UniqueFd fd, const std::string& path);

  UniqueFd fd_;
  NetnsId id_;
};

// The calling thread is in `target` until the end of the scope. If the thread cannot come
// back, this_thread_is_astray() stays true and the owner of the thread retires it, as
// aio::BlockingPool does. Never on a thread that does other work.
class ScopedNetNs {
 public:
  static Result<ScopedNetNs> enter(const NetNs& target);
  ScopedNetNs(ScopedNetNs&&) = default;
  ScopedNetNs& operator=(ScopedNetNs&&) = delete;
  ~ScopedNetNs();

  // Goes back now; false if that failed. True if it was left before.
  bool leave();

 private:
  explicit ScopedNetNs(UniqueFd home) : home_(std::move(home)) {}
  UniqueFd home_;
};

// A ScopedNetNs could not bring the calling thread home.
bool this_thread_is_astray();
// For code that strays on purpose (tests, threads that are thrown away).
void mark_this_thread_astray();

}  // namespace mnet::sys
