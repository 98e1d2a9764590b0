// Whether the one who asked still wants it. Lives on the event loop.
#pragma once

#include "aio/event.h"
#include "aio/task.h"

namespace mnet::attach {

// The client may leave, and a DEL ends an ADD of the same container (02, 0.5): the ADD then starts
// no further plugin, lets the running one finish and undoes what was done. Nothing here is undone:
// who has left does not come back.
class Caller {
 public:
  bool gone() const { return left_.is_set(); }
  void leave() { left_.set(); }

  // Ends well when the caller leaves; kTimeout at the deadline.
  aio::Task<void> wait_gone(aio::Deadline deadline = aio::kNoDeadline) {
    return left_.wait(deadline);
  }

 private:
  aio::Event left_;
};

}  // namespace mnet::attach
