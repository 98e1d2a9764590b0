// Lets coroutines wait for what another coroutine of the same loop does. Not thread-safe.
#pragma once

#include <memory>

#include "aio/task.h"
#include "aio/waiter.h"

namespace mnet::aio {

// A condition that becomes true: set() wakes all waiting tasks, and later calls of wait() return at
// once.
class Event {
 public:
  Event();
  // Waiting tasks end with kCancelled.
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  bool is_set() const;
  void set();
  void reset();

  // kTimeout at the deadline; kCancelled if the waiting coroutine is cancelled or the event is
  // destroyed.
  Task<void> wait(Deadline deadline = kNoDeadline);

 private:
  struct State;
  std::shared_ptr<State> state_;  // outlives the event while a task waits
};

// Something that happens again and again: notify_all() wakes the tasks that wait at that moment.
// Nothing is remembered, so look first, then wait, with no co_await in between.
class Notifier {
 public:
  Notifier();
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  void notify_all();

  // Waits for the next notify_all(). Errors as for Event::wait.
  Task<void> wait(Deadline deadline = kNoDeadline);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace mnet::aio
