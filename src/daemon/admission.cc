#include "daemon/admission.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "adapters/slots.h"
#include "aio/cancel.h"
#include "aio/event.h"
#include "aio/group.h"
#include "aio/task.h"
#include "base/log.h"

namespace mnet::daemon {
namespace {

using Clock = std::chrono::steady_clock;

// A request that waits. Shared with the task that looks whether its caller leaves.
struct Waiting {
  adapters::SlotRequest turn;
  aio::Event woken;
  std::optional<adapters::Slot> slot;
};

aio::Task<void> wake_when_gone(std::shared_ptr<Waiting> waiting) {
  auto left = co_await waiting->turn.caller->wait_gone();
  if (left) waiting->woken.set();
  co_return std::move(left);
}

using Line = std::list<std::shared_ptr<Waiting>>;

// Requests that need the daemon right now. The one that does so for longest stands first.
class Workers {
 public:
  explicit Workers(Pace pace) : pace_(pace) {}

  bool has_room_for(bool is_del) const {
    return workers_.size() < pace_.most + (is_del ? pace_.more_for_del : 0);
  }
  void start(std::uint64_t ticket) { workers_.push_back({ticket, Clock::now()}); }
  void stop(std::uint64_t ticket) {
    const auto found = std::ranges::find(workers_, ticket, &Worker::ticket);
    if (found != workers_.end()) workers_.erase(found);
  }
  // Requests that have taken too long count no longer.
  void forget_slow() {
    const auto since = Clock::now() - pace_.longest;
    std::erase_if(workers_, [&](const Worker& each) { return each.since <= since; });
  }
  // When the next one will have; none if there is no request.
  std::optional<Clock::time_point> next_slow() const {
    if (workers_.empty()) return std::nullopt;
    return workers_.front().since + pace_.longest;
  }

 private:
  struct Worker {
    std::uint64_t ticket;
    Clock::time_point since;
  };

  Pace pace_;
  std::list<Worker> workers_;
};

}  // namespace

struct Admission::State : std::enable_shared_from_this<Admission::State> {
  bool has_room_for(bool is_del) const {
    if (workers && !workers->has_room_for(is_del)) return false;
    if (!slots) return true;
    return running < *slots && (is_del || others < open_to_all);
  }

  bool has_plenty() const {
    return dels.empty() && rest.empty() && (!slots || 2 * (running + 1) <= open_to_all);
  }

  adapters::Slot give(bool is_del, std::uint64_t ticket) {
    ++running;
    if (!is_del) ++others;
    if (workers) workers->start(ticket);
    most = std::max(most, running);
    return adapters::Slot(
        [self = shared_from_this(), is_del, ticket] { self->give_back(is_del, ticket); });
  }

  void give_back(bool is_del, std::uint64_t ticket) {
    --running;
    if (!is_del) --others;
    if (workers) workers->stop(ticket);
    wake_next();
  }

  // A request that has a slot begins, or ends, to wait for something else.
  void note(std::uint64_t ticket, bool is_waiting) {
    if (!workers) return;
    is_waiting ? workers->stop(ticket) : workers->start(ticket);
    wake_next();
  }

  void forget_slow() {
    if (!workers) return;
    workers->forget_slow();
    wake_next();
  }

  Line& line_of(bool is_del) { return is_del ? dels : rest; }

  // The line whose first goes next: the older of those that fit. One that must leave a kept slot
  // free holds up no DEL.
  Line* next_line() {
    const bool del_fits = !dels.empty() && has_room_for(true);
    const bool other_fits = !rest.empty() && has_room_for(false);
    if (del_fits && other_fits) {
      return dels.front()->turn.ticket < rest.front()->turn.ticket ? &dels : &rest;
    }
    if (del_fits) return &dels;
    return other_fits ? &rest : nullptr;
  }

  void wake_next() {
    while (Line* line = next_line()) {
      const std::shared_ptr<Waiting> waiting = line->front();
      line->pop_front();
      waiting->slot = give(waiting->turn.is_del, waiting->turn.ticket);
      waiting->woken.set();
    }
    watch_slow();
  }

  // Only while a request waits; otherwise no one reads it.
  void watch_slow() {
    if (!workers || is_watching || (dels.empty() && rest.empty())) return;
    const auto at = workers->next_slow();
    if (!at) return;
    is_watching = true;
    timer->expires_at(*at);
    timer->async_wait([weak = weak_from_this()](const boost::system::error_code&) {
      const auto self = weak.lock();
      if (!self) return;
      self->is_watching = false;
      self->forget_slow();
    });
  }

  // Off the line at once: a slot that gets free now is not for them.
  void dismiss_if(bool is_del, const std::function<bool(const adapters::SlotRequest&)>& is_meant) {
    std::erase_if(line_of(is_del), [&](const auto& waiting) {
      if (!is_meant(waiting->turn)) return false;
      waiting->woken.set();
      return true;
    });
  }

  // From the end: most come in the order of their tickets.
  void stand_in_line(std::shared_ptr<Waiting> waiting) {
    Line& line = line_of(waiting->turn.is_del);
    auto at = line.end();
    while (at != line.begin() && (*std::prev(at))->turn.ticket > waiting->turn.ticket) --at;
    line.insert(at, std::move(waiting));
    watch_slow();
  }

  std::optional<std::size_t> slots;
  std::size_t open_to_all = 0;
  std::size_t running = 0;
  std::size_t others = 0;  // of those running, all but DELs
  std::size_t most = 0;
  Line dels, rest;  // requests that wait, by their tickets
  std::optional<Workers> workers;
  std::optional<aio::asio::steady_timer> timer;
  bool is_watching = false;
};

Admission::Admission(std::optional<std::size_t> slots, std::size_t kept)
    : state_(std::make_shared<State>()) {
  state_->slots = slots;
  if (slots) state_->open_to_all = *slots > kept ? *slots - kept : 1;
}

Admission::Admission(std::optional<std::size_t> slots, std::size_t kept,
                     const aio::asio::any_io_executor& executor, Pace pace)
    : Admission(slots, kept) {
  state_->workers.emplace(pace);
  state_->timer.emplace(executor);
}

Admission::~Admission() = default;

aio::Task<adapters::Slot> Admission::acquire(adapters::SlotRequest turn) {
  const auto state = state_;
  if (turn.caller && turn.caller->gone()) co_return aio::cancelled_error();
  if (turn.held) co_return *std::move(turn.held);
  state->forget_slow();
  // Requests in this line do not fit; one that does fit takes nothing from them.
  if (state->has_room_for(turn.is_del)) co_return state->give(turn.is_del, turn.ticket);

  const auto waiting = std::make_shared<Waiting>();
  waiting->turn = std::move(turn);
  state->stand_in_line(waiting);
  std::optional<aio::Group> watch;
  if (waiting->turn.caller) {
    const auto executor = co_await aio::asio::this_coro::executor;
    watch.emplace(executor, Log()).spawn("caller", wake_when_gone(waiting));
  }
  const auto woken = co_await waiting->woken.wait();

  if (!waiting->slot) state->line_of(waiting->turn.is_del).remove(waiting);
  const bool is_gone = waiting->turn.caller && waiting->turn.caller->gone();
  if (!woken || is_gone || !waiting->slot) {
    waiting->slot.reset();
    co_return aio::cancelled_error();
  }
  co_return *std::move(waiting->slot);
}

std::optional<adapters::Slot> Admission::acquire_early() {
  if (!state_->has_plenty()) return std::nullopt;
  return state_->give(false, 0);
}

bool Admission::is_full() const { return !state_->has_room_for(false); }

void Admission::dismiss(std::uint64_t ticket) {
  const auto has_it = [&](const adapters::SlotRequest& turn) { return turn.ticket == ticket; };
  state_->dismiss_if(false, has_it);
  state_->dismiss_if(true, has_it);
}

void Admission::dismiss_others(const std::string& container_id) {
  state_->dismiss_if(
      false, [&](const adapters::SlotRequest& turn) { return turn.container_id == container_id; });
}

std::function<void(std::uint64_t, bool)> Admission::pacer() const {
  return
      [state = state_](std::uint64_t ticket, bool is_waiting) { state->note(ticket, is_waiting); };
}

std::size_t Admission::running() const { return state_->running; }
std::size_t Admission::waiting() const { return state_->dels.size() + state_->rest.size(); }
std::size_t Admission::most() const { return state_->most; }

std::size_t default_max_delegates(std::optional<std::uint64_t> memory_limit, unsigned cores) {
  constexpr std::uint64_t kMiB = 1u << 20;
  if (!memory_limit) return std::clamp<std::size_t>(std::size_t{4} * cores, 8, 64);
  const std::uint64_t left = *memory_limit > 16 * kMiB ? *memory_limit - 16 * kMiB : 0;
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(left / (32 * kMiB), 2, 64));
}

Pace default_pace(unsigned cores) { return {.most = cores > 2 ? 2u : 1u, .more_for_del = 1}; }

std::size_t default_max_requests(std::size_t max_delegates) {
  return std::max<std::size_t>(64, 4 * max_delegates);
}

std::size_t kept_for_del(std::size_t max_delegates) {
  return std::max<std::size_t>(1, max_delegates / 8);
}

}  // namespace mnet::daemon
