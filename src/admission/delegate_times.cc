#include "admission/delegate_times.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "aio/task.h"
#include "chain/slots.h"

namespace mnet::admission {

// It runs while at least one delegate has started it.
struct DelegateTimes::Watch {
  Watch(std::uint64_t of, OnChange report) : ticket(of), on_change(std::move(report)) {}

  std::uint64_t ticket;
  OnChange on_change;
  int running = 0;
  Clock::time_point since;
  Clock::duration sum{};

  void start() {
    if (running++ > 0) return;
    since = Clock::now();
    if (on_change) on_change(ticket, true);
  }
  void stop() {
    if (--running > 0) return;
    sum += Clock::now() - since;
    if (on_change) on_change(ticket, false);
  }
  Clock::duration total() const { return running == 0 ? sum : sum + (Clock::now() - since); }
};

DelegateTimes::DelegateTimes(chain::DelegateSlots& slots, OnChange on_change)
    : slots_(slots), on_change_(std::move(on_change)) {}
DelegateTimes::~DelegateTimes() = default;

aio::Task<chain::Slot> DelegateTimes::acquire(chain::SlotRequest request) {
  const auto found = watches_.find(request.ticket);
  if (found == watches_.end()) {
    co_return co_await slots_.acquire(std::move(request));
  }
  const std::shared_ptr<Watch> watch = found->second;
  watch->start();
  auto slot = co_await slots_.acquire(std::move(request));
  if (!slot) {
    watch->stop();
    co_return std::move(slot);
  }
  co_return chain::Slot([watch, slot = *std::move(slot)]() mutable {
    watch->stop();
    slot.release();
  });
}

DelegateTimes::Account::Account(DelegateTimes& times, std::uint64_t ticket)
    : times_(times), ticket_(ticket) {
  times_.watches_.emplace(ticket, std::make_shared<Watch>(ticket, times_.on_change_));
}

DelegateTimes::Account::~Account() { times_.watches_.erase(ticket_); }

DelegateTimes::Clock::duration DelegateTimes::Account::total() const {
  return times_.watches_.at(ticket_)->total();
}

}  // namespace mnet::admission
