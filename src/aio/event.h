// Waiting for something that another coroutine of the same loop brings about. Not for other
// threads.
#pragma once

#include <memory>

#include "aio/task.h"
#include "aio/waiter.h"

namespace mnet::aio {

// A fact that becomes true: all who wait go on, and who comes later does not wait.
class Event {
 public:
  Event();
  // Those who still wait end with kCancelled.
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  bool is_set() const;
  void set();
  void reset();

  // kTimeout at the deadline; kCancelled if the waiting coroutine is cancelled or the event is
  // gone.
  Task<void> wait(Deadline deadline = kNoDeadline);

 private:
  struct State;
  std::shared_ptr<State> state_;  // outlives the event as long as somebody waits
};

// Something that happens again and again: who waits when it happens goes on. Nothing is remembered:
// look first, then wait, with no co_await between the two.
class Notifier {
 public:
  Notifier();
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  void notify_all();

  // Until the next notify_all(). Errors as for Event::wait.
  Task<void> wait(Deadline deadline = kNoDeadline);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace mnet::aio
