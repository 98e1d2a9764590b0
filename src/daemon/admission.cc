#include "daemon/admission.h"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "aio/cancel.h"
#include "aio/event.h"
#include "aio/group.h"
#include "base/log.h"

namespace mnet::daemon {
namespace {

// One who waits. Shared with the task that looks whether its caller leaves.
struct Waiting {
  adapters::SlotRequest turn;
  aio::Event woken;
  std::optional<adapters::Slot> place;
};

aio::Task<void> wake_when_gone(std::shared_ptr<Waiting> waiting) {
  auto left = co_await waiting->turn.caller->wait_gone();
  if (left) waiting->woken.set();
  co_return std::move(left);
}

}  // namespace

struct Admission::State : std::enable_shared_from_this<Admission::State> {
  bool has_room_for(const adapters::SlotRequest& turn) const {
    if (!places) return true;
    return turn.is_del ? running < *places : running < *places && others < open_to_all;
  }

  adapters::Slot give(bool is_del) {
    ++running;
    if (!is_del) ++others;
    most = std::max(most, running);
    return adapters::Slot([self = shared_from_this(), is_del] { self->give_back(is_del); });
  }

  void give_back(bool is_del) {
    --running;
    if (!is_del) --others;
    wake_next();
  }

  // Whoever is first in line and fits; one who must leave a kept place free holds up no DEL.
  void wake_next() {
    for (auto at = line.begin(); at != line.end();) {
      const std::shared_ptr<Waiting> waiting = *at;
      if (!has_room_for(waiting->turn)) {
        ++at;
        continue;
      }
      at = line.erase(at);
      waiting->place = give(waiting->turn.is_del);
      waiting->woken.set();
    }
  }

  // Off the line at once: a place that gets free now is not for them.
  void dismiss_if(const std::function<bool(const adapters::SlotRequest&)>& is_meant) {
    std::erase_if(line, [&](const auto& waiting) {
      if (!is_meant(waiting->turn)) return false;
      waiting->woken.set();
      return true;
    });
  }

  void stand_in_line(std::shared_ptr<Waiting> waiting) {
    const auto behind = std::ranges::find_if(
        line, [&](const auto& other) { return other->turn.ticket > waiting->turn.ticket; });
    line.insert(behind, std::move(waiting));
  }

  std::optional<std::size_t> places;
  std::size_t open_to_all = 0;
  std::size_t running = 0;
  std::size_t others = 0;  // of those running, all but DELs
  std::size_t most = 0;
  std::list<std::shared_ptr<Waiting>> line;
};

Admission::Admission(std::optional<std::size_t> places, std::size_t kept)
    : state_(std::make_shared<State>()) {
  state_->places = places;
  if (places) state_->open_to_all = *places > kept ? *places - kept : 1;
}

Admission::~Admission() = default;

aio::Task<adapters::Slot> Admission::acquire(adapters::SlotRequest turn) {
  const auto state = state_;
  if (turn.caller && turn.caller->gone()) co_return aio::cancelled_error();
  // Who stands in line here does not fit; one who does fit takes nothing from them.
  if (state->has_room_for(turn)) co_return state->give(turn.is_del);

  const auto waiting = std::make_shared<Waiting>();
  waiting->turn = std::move(turn);
  state->stand_in_line(waiting);
  std::optional<aio::Group> watch;
  if (waiting->turn.caller) {
    const auto executor = co_await aio::asio::this_coro::executor;
    watch.emplace(executor, Log()).spawn("caller", wake_when_gone(waiting));
  }
  const auto woken = co_await waiting->woken.wait();

  state->line.remove(waiting);
  const bool is_gone = waiting->turn.caller && waiting->turn.caller->gone();
  if (!woken || is_gone || !waiting->place) {
    waiting->place.reset();
    co_return aio::cancelled_error();
  }
  co_return *std::move(waiting->place);
}

bool Admission::is_full() const { return !state_->has_room_for({}); }

void Admission::dismiss(std::uint64_t ticket) {
  state_->dismiss_if([&](const adapters::SlotRequest& turn) { return turn.ticket == ticket; });
}

void Admission::dismiss_others(const std::string& container_id) {
  state_->dismiss_if([&](const adapters::SlotRequest& turn) {
    return !turn.is_del && turn.container_id == container_id;
  });
}

std::size_t Admission::running() const { return state_->running; }
std::size_t Admission::waiting() const { return state_->line.size(); }
std::size_t Admission::most() const { return state_->most; }

std::size_t default_max_delegates(std::optional<std::uint64_t> memory_limit, unsigned cores) {
  constexpr std::uint64_t kMiB = 1u << 20;
  if (!memory_limit) return std::clamp<std::size_t>(std::size_t{4} * cores, 8, 64);
  const std::uint64_t left = *memory_limit > 16 * kMiB ? *memory_limit - 16 * kMiB : 0;
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(left / (32 * kMiB), 2, 64));
}

std::size_t default_max_requests(std::size_t max_delegates) {
  return std::max<std::size_t>(64, 4 * max_delegates);
}

std::size_t kept_for_del(std::size_t max_delegates) {
  return std::max<std::size_t>(1, max_delegates / 8);
}

}  // namespace mnet::daemon
