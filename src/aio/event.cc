#include "aio/event.h"

#include <cstddef>
#include <memory>

#include "aio/cancel.h"
#include "aio/task.h"
#include "aio/waiter.h"
#include "base/result.h"

namespace mnet::aio {
namespace {

// Wakes only the tasks that wait now: a woken task may wait again at once.
void wake_all(Waiter::List& list) {
  for (std::size_t n = list.size(); n > 0; --n) list.front()->wake();
}

}  // namespace

struct Event::State {
  Waiter::List waiting;
  bool set = false;
  bool gone = false;

  // The coroutine owns the state: the event may be destroyed while a task waits.
  static Task<void> wait(std::shared_ptr<State> state, Deadline deadline) {
    if (state->set) co_return Result<void>();
    Waiter self(co_await asio::this_coro::executor, state->waiting);
    auto woken = co_await self.wait(deadline);
    if (woken && state->gone) co_return cancelled_error();
    co_return woken;
  }
};

Event::Event() : state_(std::make_shared<State>()) {}

Event::~Event() {
  state_->gone = true;
  wake_all(state_->waiting);
}

bool Event::is_set() const { return state_->set; }

void Event::set() {
  state_->set = true;
  wake_all(state_->waiting);
}

void Event::reset() { state_->set = false; }

Task<void> Event::wait(Deadline deadline) { return State::wait(state_, deadline); }

struct Notifier::State {
  Waiter::List waiting;
  bool gone = false;

  static Task<void> wait(std::shared_ptr<State> state, Deadline deadline) {
    Waiter self(co_await asio::this_coro::executor, state->waiting);
    auto woken = co_await self.wait(deadline);
    if (woken && state->gone) co_return cancelled_error();
    co_return woken;
  }
};

Notifier::Notifier() : state_(std::make_shared<State>()) {}

Notifier::~Notifier() {
  state_->gone = true;
  wake_all(state_->waiting);
}

void Notifier::notify_all() { wake_all(state_->waiting); }

Task<void> Notifier::wait(Deadline deadline) { return State::wait(state_, deadline); }

}  // namespace mnet::aio
