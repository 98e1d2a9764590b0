// Whether the caller still waits for the answer. Lives on the event loop.
#pragma once

#include <memory>
#include <vector>

#include "aio/event.h"
#include "aio/task.h"

namespace mnet::chain {

// The client may leave, and a DEL ends an ADD of the same container (02, 0.5): the ADD then starts
// no further plugin, lets the running one finish and undoes what was done. A caller
// that has left does not come back.
class Caller {
 public:
  bool gone() const { return left_.is_set(); }
  void leave() {
    left_.set();
    for (const std::weak_ptr<Caller>& one : companions_) {
      if (const auto companion = one.lock()) companion->leave();
    }
  }
  // A caller that leaves when this one does, or before: for a part of the work that may end by
  // itself.
  std::shared_ptr<Caller> companion() {
    auto one = std::make_shared<Caller>();
    if (gone()) one->leave();
    companions_.push_back(one);
    return one;
  }

  // Ends well when the caller leaves; kTimeout at the deadline.
  aio::Task<void> wait_gone(aio::Deadline deadline = aio::kNoDeadline) {
    return left_.wait(deadline);
  }

 private:
  aio::Event left_;
  std::vector<std::weak_ptr<Caller>> companions_;
};

}  // namespace mnet::chain
