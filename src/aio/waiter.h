// One coroutine that waits until somebody wakes it: what Event, Notifier and KeyedLock are made of.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <list>

#include "aio/cancel.h"
#include "aio/task.h"

namespace mnet::aio {

// Lives in the frame of the coroutine that waits, listed in `list` from its birth until it is woken
// or gone, in order of arrival.
class Waiter {
 public:
  using List = std::list<Waiter*>;

  Waiter(const asio::any_io_executor& executor, List& list);
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  ~Waiter();

  // Takes it off its list; wait() then succeeds, also if a deadline or a cancel came at the same
  // time.
  void wake();

  // kTimeout at the deadline, kCancelled if the coroutine is cancelled, now or before.
  Task<void> wait(Deadline deadline);

 private:
  void leave();

  asio::steady_timer timer_;
  List* list_;
  List::iterator place_;
  bool woken_ = false;
};

}  // namespace mnet::aio
