// A coroutine that waits until other code wakes it: Event, Notifier and KeyedLock are made of this.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <list>

#include "aio/cancel.h"
#include "aio/task.h"

namespace mnet::aio {

// Lives in the frame of the waiting coroutine. It is in `list`, in order of arrival, from its
// construction until it is woken or destroyed.
class Waiter {
 public:
  using List = std::list<Waiter*>;

  Waiter(const asio::any_io_executor& executor, List& list);
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  ~Waiter();

  // Takes it off its list. wait() then succeeds, even if the deadline or a cancel comes at the same
  // time.
  void wake();

  // kTimeout at the deadline, kCancelled if the coroutine is or was cancelled.
  Task<void> wait(Deadline deadline);

 private:
  void leave();

  asio::steady_timer timer_;
  List* list_;
  List::iterator place_;
  bool woken_ = false;
};

}  // namespace mnet::aio
