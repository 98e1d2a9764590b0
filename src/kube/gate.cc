#include "kube/gate.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

#include "aio/task.h"
#include "aio/waiter.h"
#include "base/try.h"

namespace mnet::kube {

struct Gate::State {
  static constexpr std::size_t kPriorities = 3;
  struct Line {
    std::size_t most = 1;  // slots that it may take
    std::size_t running = 0;
    aio::Waiter::List waiting = {};
  };

  explicit State(std::size_t count) : slots(std::max<std::size_t>(1, count)) {
    line(Priority::kUrgent).most = slots;
    line(Priority::kLookup).most = std::max<std::size_t>(1, slots / 4);
    line(Priority::kBackground).most = std::max<std::size_t>(1, slots / 2);
  }

  Line& line(Priority priority) { return lines[static_cast<std::size_t>(priority)]; }
  bool has_room(const Line& line) const { return running < slots && line.running < line.most; }
  void take(Line& line) {
    ++running;
    ++line.running;
  }
  void give_back(Line& line) {
    --running;
    --line.running;
    admit();
  }
  // Takes the slot for the task that it wakes, so that no other can take it in between.
  void admit() {
    for (Line& line : lines) {
      while (!line.waiting.empty() && has_room(line)) {
        take(line);
        line.waiting.front()->wake();
      }
    }
  }

  const std::size_t slots;
  std::size_t running = 0;
  std::array<Line, kPriorities> lines;  // the most urgent first
};

Gate::Slot::~Slot() {
  if (state_) state_->give_back(state_->line(priority_));
}

Gate::Gate(std::size_t slots) : state_(std::make_shared<State>(slots)) {}

aio::Task<Gate::Slot> Gate::enter(Priority priority, aio::Deadline deadline) {
  const std::shared_ptr<State> state = state_;
  State::Line& line = state->line(priority);
  if (line.waiting.empty() && state->has_room(line)) {
    state->take(line);
    co_return Slot(state, priority);
  }
  const auto executor = co_await aio::asio::this_coro::executor;
  aio::Waiter waiter(executor, line.waiting);
  MNET_CO_TRY_VOID(co_await waiter.wait(deadline));
  co_return Slot(state, priority);
}

std::size_t Gate::running() const { return state_->running; }
std::size_t Gate::waiting() const {
  std::size_t sum = 0;
  for (const State::Line& line : state_->lines) sum += line.waiting.size();
  return sum;
}

}  // namespace mnet::kube
