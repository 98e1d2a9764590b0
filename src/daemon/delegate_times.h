// How much of a request's time its delegates took, so that the daemon can tell its own share. Lives
// on the event loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>

#include "adapters/slots.h"
#include "aio/task.h"

namespace mnet::daemon {

// The places of somebody else; here only the time is taken.
class DelegateTimes final : public adapters::DelegateSlots {
 public:
  using Clock = std::chrono::steady_clock;

  // `places` must outlive it.
  explicit DelegateTimes(adapters::DelegateSlots& places);
  ~DelegateTimes() override;

  aio::Task<adapters::Slot> acquire(adapters::SlotRequest request) override;

  // Counts for the request with this ticket while it lives.
  class Account {
   public:
    Account(DelegateTimes& times, std::uint64_t ticket);
    Account(const Account&) = delete;
    Account& operator=(const Account&) = delete;
    ~Account();

    // The time so far in which at least one delegate ran or waited for its place.
    Clock::duration total() const;

   private:
    DelegateTimes& times_;
    std::uint64_t ticket_;
  };

 private:
  struct Watch;

  adapters::DelegateSlots& places_;
  std::map<std::uint64_t, std::shared_ptr<Watch>> watches_;
};

}  // namespace mnet::daemon
