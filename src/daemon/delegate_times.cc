#include "daemon/delegate_times.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

namespace mnet::daemon {

// Runs while at least one has started it.
struct DelegateTimes::Watch {
  int running = 0;
  Clock::time_point since;
  Clock::duration sum{};

  void start() {
    if (running++ == 0) since = Clock::now();
  }
  void stop() {
    if (--running == 0) sum += Clock::now() - since;
  }
  Clock::duration total() const { return running == 0 ? sum : sum + (Clock::now() - since); }
};

DelegateTimes::DelegateTimes(adapters::DelegateSlots& places) : places_(places) {}
DelegateTimes::~DelegateTimes() = default;

aio::Task<adapters::Slot> DelegateTimes::acquire(adapters::SlotRequest request) {
  const auto found = watches_.find(request.ticket);
  if (found == watches_.end()) {
    auto place = co_await places_.acquire(std::move(request));
    co_return std::move(place);
  }
  const std::shared_ptr<Watch> watch = found->second;
  watch->start();
  auto place = co_await places_.acquire(std::move(request));
  if (!place) {
    watch->stop();
    co_return std::move(place);
  }
  co_return adapters::Slot([watch, place = *std::move(place)]() mutable {
    watch->stop();
    place.release();
  });
}

DelegateTimes::Account::Account(DelegateTimes& times, std::uint64_t ticket)
    : times_(times), ticket_(ticket) {
  times_.watches_.emplace(ticket, std::make_shared<Watch>());
}

DelegateTimes::Account::~Account() { times_.watches_.erase(ticket_); }

DelegateTimes::Clock::duration DelegateTimes::Account::total() const {
  return times_.watches_.at(ticket_)->total();
}

}  // namespace mnet::daemon
