#include "admission/admission.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission/fair_line.h"
#include "aio/cancel.h"
#include "aio/event.h"
#include "aio/group.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "chain/caller.h"
#include "chain/slots.h"

namespace mnet::admission {

// A request that waits. Shared with the task that looks whether its caller leaves.
struct Waiting {
  std::shared_ptr<chain::Caller> caller;
  std::size_t slots = 1;
  aio::Deadline deadline = aio::kNoDeadline;
  aio::Event woken;
  std::optional<FairLine::Seat> seat;  // while it is in the line
  std::optional<chain::Slot> slot;
};

namespace {

using Clock = std::chrono::steady_clock;

aio::Task<chain::Slot> at_once(Result<chain::Slot> slot) { co_return std::move(slot); }

aio::Task<void> wake_when_gone(std::shared_ptr<Waiting> waiting) {
  auto left = co_await waiting->caller->wait_gone();
  if (left) waiting->woken.set();
  co_return std::move(left);
}

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
  explicit State(bool keeps_for_del) : line(keeps_for_del) {}

  bool has_share_for(const FairLine::Pod& pod, bool is_del, std::size_t wanted) const {
    return FairLine::held(pod, is_del) + wanted <= of_namespace;
  }
  // DELs of a namespace leave the slots of one more request: otherwise its first ADD would take
  // what is left to others.
  bool has_room_for(const FairLine::Pod& pod, bool is_del, std::size_t wanted) const {
    if (workers && !workers->has_room_for(is_del)) return false;
    if (!slots) return true;
    if (of_namespace > 0) return has_share_for(pod, is_del, wanted) && running + wanted <= *slots;
    const std::size_t left = FairLine::held(pod, is_del) > 0 ? left_to_others : 0;
    if (is_del)
      return running + wanted + left + (left > 0 && keeps_for_del() ? largest : 0) <= *slots;
    return running + wanted + left <= *slots && others + wanted + left <= open_to_all;
  }
  bool keeps_for_del() const { return open_to_all < *slots; }

  bool has_plenty() const {
    if (line.size() > 0) return false;
    return !slots ||
           (2 * (running + 1) <= open_to_all && running + 1 + left_to_others < open_to_all);
  }

  chain::Slot give_early() {
    take(false, 0, 1);
    return chain::Slot([self = shared_from_this()] { self->give_back(false, 0, 1); });
  }

  // From now on it counts for its namespace.
  chain::Slot give_held(FairLine::Pod& pod, chain::Slot held) {
    line.start(pod, false, 1);
    return chain::Slot([self = shared_from_this(), &pod, held = std::move(held)]() mutable {
      self->line.end(pod, false, 1);
      held.release();
    });
  }

  // The slot of a request that line.start() or line.grant() has counted.
  chain::Slot give(FairLine::Pod& pod, bool is_del, std::uint64_t ticket, std::size_t count) {
    take(is_del, ticket, count);
    return chain::Slot(
        [self = shared_from_this(), &pod, is_del, ticket, count](std::size_t keep) mutable {
          const std::size_t given = count - std::min(count, keep);
          if (given == 0) return;
          count -= given;
          self->line.end(pod, is_del, given);
          self->give_back(is_del, ticket, given);
        });
  }

  void take(bool is_del, std::uint64_t ticket, std::size_t count) {
    running += count;
    if (!is_del) others += count;
    if (workers) workers->start(ticket);
    most = std::max(most, running);
  }

  void give_back(bool is_del, std::uint64_t ticket, std::size_t count) {
    running -= count;
    if (!is_del) others -= count;
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

  std::optional<FairLine::Seat> fitting(bool is_del) const {
    // A request that waits for its own namespace's share holds up no other.
    auto seat =
        of_namespace == 0 ? line.first(is_del) : line.first(is_del, [&](const FairLine::Seat& one) {
          return has_share_for(*one.pod, is_del, one.waiting().slots);
        });
    if (!seat) return std::nullopt;
    return has_room_for(*seat->pod, is_del, seat->waiting().slots) ? seat : std::nullopt;
  }

  // A request that must leave a slot to DELs, or to other namespaces, holds up no other request.
  // But freed slots add up for an older DEL that needs several.
  std::optional<FairLine::Seat> next() const {
    auto del = fitting(true);
    auto other = fitting(false);
    if (del && other) return FairLine::precedes(*del, *other) ? del : other;
    if (other && is_due_to_older_del(*other)) return std::nullopt;
    return del ? del : other;
  }
  bool is_due_to_older_del(const FairLine::Seat& other) const {
    const auto del = line.first(true);
    if (!slots || !del || FairLine::held(*del->pod, true) > 0 || !FairLine::precedes(*del, other))
      return false;
    return del->waiting().slots > 1 && running + del->waiting().slots > *slots;
  }

  void wake_next() {
    while (const auto seat = next()) {
      const std::shared_ptr<Waiting> waiting = seat->at->second;
      const std::uint64_t ticket = seat->ticket();
      waiting->seat.reset();
      line.grant(*seat, waiting->slots);
      waiting->slot = give(*seat->pod, seat->is_del, ticket, waiting->slots);
      waiting->woken.set();
    }
    watch_slow();
  }

  // Only while a request waits; otherwise no one reads it.
  void watch_slow() {
    if (!workers || is_watching || line.size() == 0) return;
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

  static aio::Task<chain::Slot> wait(std::shared_ptr<State> self,
                                     std::shared_ptr<Waiting> waiting) {
    const auto woken = co_await waiting->woken.wait(waiting->deadline);
    const bool is_gone = waiting->caller && waiting->caller->gone();
    const bool is_late = !woken && woken.error().code() == Errc::kTimeout;
    if (waiting->seat) {
      const auto seat = *std::exchange(waiting->seat, std::nullopt);
      is_late ? self->line.give_up(seat) : self->line.leave(seat);
      self->wake_next();  // it may have stood before others that fit
    }
    if (is_late && !is_gone && !waiting->slot) co_return woken.error();
    if ((!woken && !is_late) || is_gone || !waiting->slot) {
      waiting->slot.reset();
      co_return aio::cancelled_error();
    }
    co_return *std::move(waiting->slot);
  }

  static aio::Task<chain::Slot> wait_with_caller(std::shared_ptr<State> self,
                                                 std::shared_ptr<Waiting> waiting) {
    const auto executor = co_await aio::asio::this_coro::executor;
    aio::Group watch(executor, Log());
    watch.spawn("caller", wake_when_gone(waiting));
    co_return co_await wait(std::move(self), std::move(waiting));
  }

  // Off the line at once: a slot that gets free now is not for them.
  void dismiss(const std::vector<FairLine::Seat>& seats) {
    for (const FairLine::Seat& seat : seats) {
      Waiting& waiting = seat.waiting();
      waiting.seat.reset();
      waiting.woken.set();
      line.leave(seat);
    }
    if (!seats.empty()) wake_next();  // they may have stood before others that fit
  }

  std::optional<std::size_t> slots;
  std::size_t open_to_all = 0;
  std::size_t left_to_others = 0;
  std::size_t of_namespace = 0;  // 0: no share, see left_to_others
  std::size_t largest = 1;       // the most that one request has asked for
  std::size_t running = 0;
  std::size_t others = 0;  // of those running, all but DELs
  std::size_t most = 0;
  FairLine line;  // who waits, and what each namespace and container holds
  std::optional<Workers> workers;
  std::optional<aio::asio::steady_timer> timer;
  bool is_watching = false;
};

Admission::Admission(std::optional<std::size_t> slots, std::size_t kept)
    : state_(std::make_shared<State>(kept > 0)) {
  state_->slots = slots;
  if (!slots) return;
  state_->open_to_all = *slots > kept ? *slots - kept : 1;
  state_->left_to_others = left_to_others(state_->open_to_all);
}

Admission::Admission(Shares shares) : Admission(shares.slots) {
  state_->of_namespace = shares.of_namespace;
}

Admission::Admission(std::optional<std::size_t> slots, std::size_t kept,
                     const aio::asio::any_io_executor& executor, Pace pace)
    : Admission(slots, kept) {
  state_->workers.emplace(pace);
  state_->timer.emplace(executor);
}

Admission::~Admission() = default;

// No coroutine: what was asked for is not kept while a thousand wait.
aio::Task<chain::Slot> Admission::acquire(chain::SlotRequest turn) {
  if (turn.caller && turn.caller->gone()) return at_once(aio::cancelled_error());
  state_->forget_slow();
  FairLine::Pod& pod =
      state_->line.account(std::move(turn.ns), std::move(turn.container_id), turn.ticket);
  state_->largest = std::max(state_->largest, turn.slots);
  if (turn.held) return at_once(state_->give_held(pod, *std::move(turn.held)));
  // The requests in the line need more slots than are free. Where each needs only one, a request
  // that fits takes nothing from them.
  const bool may_pass = state_->largest == 1 || state_->line.size() == 0;
  if (may_pass && state_->has_room_for(pod, turn.is_del, turn.slots)) {
    state_->line.start(pod, turn.is_del, turn.slots);
    return at_once(state_->give(pod, turn.is_del, turn.ticket, turn.slots));
  }
  auto waiting = std::make_shared<Waiting>();
  waiting->caller = std::move(turn.caller);
  waiting->slots = turn.slots;
  waiting->deadline = turn.deadline;
  waiting->seat = state_->line.join(pod, turn.is_del, turn.ticket, waiting);
  if (!may_pass) state_->wake_next();  // its namespace may be the one that holds least
  if (waiting->slot) return at_once(*std::move(waiting->slot));
  state_->watch_slow();
  return waiting->caller ? State::wait_with_caller(state_, std::move(waiting))
                         : State::wait(state_, std::move(waiting));
}

std::optional<chain::Slot> Admission::acquire_early() {
  if (!state_->has_plenty()) return std::nullopt;
  return state_->give_early();
}

void Admission::dismiss(std::uint64_t ticket) { state_->dismiss(state_->line.with_ticket(ticket)); }

void Admission::dismiss_others(const std::string& container_id) {
  state_->dismiss(state_->line.of_container(container_id));
}

std::function<void(std::uint64_t, bool)> Admission::pacer() const {
  return
      [state = state_](std::uint64_t ticket, bool is_waiting) { state->note(ticket, is_waiting); };
}

std::size_t Admission::running() const { return state_->running; }
std::size_t Admission::waiting() const { return state_->line.size(); }
std::size_t Admission::most() const { return state_->most; }

std::size_t default_max_delegates(std::optional<std::uint64_t> memory_limit, unsigned cores) {
  constexpr std::uint64_t kMiB = 1u << 20;
  if (!memory_limit) return std::clamp<std::size_t>(std::size_t{4} * cores, 8, 64);
  const std::uint64_t left = *memory_limit > kOwnMemory ? *memory_limit - kOwnMemory : 0;
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(left / (32 * kMiB), 2, 64));
}

Pace default_pace(unsigned cores) { return {.most = cores > 2 ? 2u : 1u, .more_for_del = 1}; }

std::size_t default_max_requests(std::size_t max_delegates) {
  return std::max<std::size_t>(64, 4 * max_delegates);
}

std::size_t kept_for_del(std::size_t max_delegates) {
  return std::max<std::size_t>(1, max_delegates / 8);
}

std::size_t left_to_others(std::size_t open_to_all) {
  return open_to_all < 2 ? 0 : std::max<std::size_t>(1, open_to_all / 8);
}

}  // namespace mnet::admission
