#include "kube/gate.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "aio/task.h"
#include "aio/waiter.h"
#include "base/try.h"

namespace mnet::kube {

struct Gate::Share {
  std::size_t running = 0;
  std::uint64_t turn = 0;  // when it last got a slot
  aio::Waiter::List waiting = {};
};

struct Gate::State {
  static constexpr std::size_t kPriorities = 3;
  struct Line {
    std::size_t most = 1;  // slots that it may take
    std::size_t running = 0;
    std::map<std::string, std::shared_ptr<Share>, std::less<>> shares = {};  // that wait or run

    std::shared_ptr<Share> share(const std::string& name) {
      std::shared_ptr<Share>& share = shares[name];
      if (!share) share = std::make_shared<Share>();
      return share;
    }
    static auto rank(const Share& share) { return std::pair(share.running, share.turn); }
    // nullptr: none waits.
    Share* next() {
      std::erase_if(shares, [](const auto& one) { return one.second.use_count() == 1; });
      Share* first = nullptr;
      for (const auto& [name, share] : shares) {
        if (share->waiting.empty()) continue;
        if (first == nullptr || rank(*share) < rank(*first)) first = share.get();
      }
      return first;
    }
  };

  explicit State(std::size_t count) : slots(std::max<std::size_t>(1, count)) {
    line(Priority::kUrgent).most = slots;
    line(Priority::kLookup).most = std::max<std::size_t>(1, slots / 4);
    line(Priority::kBackground).most = std::max<std::size_t>(1, slots / 2);
  }

  Line& line(Priority priority) { return lines[static_cast<std::size_t>(priority)]; }
  bool has_room(const Line& line) const { return running < slots && line.running < line.most; }
  void take(Line& line, Share& share) {
    ++running;
    ++line.running;
    ++share.running;
    share.turn = ++turns;
  }
  void give_back(Line& line, Share& share) {
    --running;
    --line.running;
    --share.running;
    admit();
  }
  // Takes the slot for the task that it wakes, so that no other can take it in between.
  void admit() {
    for (Line& line : lines) {
      while (has_room(line)) {
        Share* share = line.next();
        if (share == nullptr) break;
        take(line, *share);
        share->waiting.front()->wake();
      }
    }
  }

  const std::size_t slots;
  std::size_t running = 0;
  std::uint64_t turns = 0;
  std::array<Line, kPriorities> lines;  // the most urgent first
};

Gate::Slot::~Slot() {
  if (state_) state_->give_back(state_->line(priority_), *share_);
}

Gate::Gate(std::size_t slots) : state_(std::make_shared<State>(slots)) {}

aio::Task<Gate::Slot> Gate::enter(Priority priority, std::string name, aio::Deadline deadline) {
  const std::shared_ptr<State> state = state_;
  State::Line& line = state->line(priority);
  const std::shared_ptr<Share> share = line.share(name);
  if (line.next() == nullptr && state->has_room(line)) {
    state->take(line, *share);
    co_return Slot(state, priority, share);
  }
  const auto executor = co_await aio::asio::this_coro::executor;
  aio::Waiter waiter(executor, share->waiting);
  MNET_CO_TRY_VOID(co_await waiter.wait(deadline));
  co_return Slot(state, priority, share);
}

std::size_t Gate::running() const { return state_->running; }
std::size_t Gate::waiting() const {
  std::size_t sum = 0;
  for (const State::Line& line : state_->lines) {
    for (const auto& [name, share] : line.shares) sum += share->waiting.size();
  }
  return sum;
}

}  // namespace mnet::kube
