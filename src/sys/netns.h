// Network namespaces: opening, comparing, entering.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "sys/fd.h"

namespace mnet::sys {

struct NamespaceId {
  std::uint64_t device = 0, inode = 0;
  friend bool operator==(const NamespaceId&, const NamespaceId&) = default;
};

class NetNs {
 public:
  // Opens a namespace file and checks that it is one (nsfs). A path below /var/run/ that does not
  // exist is tried below /run/ (03, 7). `no such file`, `not a network namespace` and the path are
  // in the error.
  static Result<NetNs> open(const std::string& path);
  // Of the calling thread.
  static Result<NetNs> own();

  NamespaceId id() const { return id_; }
  int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
  NamespaceId id_;
};

// The calling thread is in `target` until the end of the scope. A thread that cannot come back ends
// the process's trust in it: left() is then false, and the caller retires the thread. Never on a
// thread that does other work.
class ScopedNetNs {
 public:
  static Result<ScopedNetNs> enter(const NetNs& target);
  ScopedNetNs(ScopedNetNs&&) = default;
  ScopedNetNs& operator=(ScopedNetNs&&) = delete;
  ~ScopedNetNs();

  // Goes back now; false if that failed.
  bool leave();

 private:
  explicit ScopedNetNs(UniqueFd home) : home_(std::move(home)) {}
  UniqueFd home_;
};

}  // namespace mnet::sys
