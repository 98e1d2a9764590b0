#include "kube/gate.h"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "aio/task.h"
#include "aio/waiter.h"
#include "base/try.h"

namespace mnet::kube {

struct Gate::State {
  bool has_room(Priority priority) const {
    if (running >= slots) return false;
    return priority == Priority::kUrgent || background < std::max<std::size_t>(1, slots / 2);
  }
  void take(Priority priority) {
    ++running;
    if (priority == Priority::kBackground) ++background;
  }
  void give_back(Priority priority) {
    --running;
    if (priority == Priority::kBackground) --background;
    admit();
  }
  // Takes the slot for the task that it wakes, so that no other can take it in between.
  void admit() {
    while (!urgent.empty() && has_room(Priority::kUrgent)) {
      take(Priority::kUrgent);
      urgent.front()->wake();
    }
    while (!later.empty() && has_room(Priority::kBackground)) {
      take(Priority::kBackground);
      later.front()->wake();
    }
  }
  aio::Waiter::List& line(Priority priority) {
    return priority == Priority::kUrgent ? urgent : later;
  }

  std::size_t slots = 1, running = 0, background = 0;
  aio::Waiter::List urgent, later;
};

Gate::Slot::~Slot() {
  if (state_) state_->give_back(priority_);
}

Gate::Gate(std::size_t slots) : state_(std::make_shared<State>()) {
  state_->slots = std::max<std::size_t>(1, slots);
}

aio::Task<Gate::Slot> Gate::enter(Priority priority, aio::Deadline deadline) {
  const std::shared_ptr<State> state = state_;
  if (state->line(priority).empty() && state->has_room(priority)) {
    state->take(priority);
    co_return Slot(state, priority);
  }
  const auto executor = co_await aio::asio::this_coro::executor;
  aio::Waiter waiter(executor, state->line(priority));
  MNET_CO_TRY_VOID(co_await waiter.wait(deadline));
  co_return Slot(state, priority);
}

std::size_t Gate::running() const { return state_->running; }
std::size_t Gate::waiting() const { return state_->urgent.size() + state_->later.size(); }

}  // namespace mnet::kube
