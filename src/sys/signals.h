// Signals as something to read: they wait in the kernel until they are read, even for process 1,
// which gets no other.
#pragma once

#include <initializer_list>
#include <optional>

#include "base/result.h"
#include "sys/fd.h"

namespace mnet::sys {

class Signals {
 public:
  // Blocks these signals in the calling thread, for good: make it before any other thread, so that
  // all inherit it. Programs that we start begin with an empty mask (sys/spawn.h).
  static Result<Signals> take_over(std::initializer_list<int> numbers);

  int fd() const { return fd_.get(); }  // readable when one waits
  // The next pending signal, if there is one. Never blocks.
  std::optional<int> take();

 private:
  explicit Signals(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

// For the start of a program that runs others: no signal is blocked, and SIGCHLD is not ignored,
// as a parent may have left it. The kernel would throw our children's exit statuses away.
void reset_signals();

}  // namespace mnet::sys
