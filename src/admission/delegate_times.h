// How much of a request's time its delegates took, so that the daemon can tell its own share. Lives
// on the event loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "aio/task.h"
#include "chain/slots.h"

namespace mnet::admission {

// Another object owns the slots; this one only takes the time.
class DelegateTimes final : public chain::DelegateSlots {
 public:
  using Clock = std::chrono::steady_clock;
  // The request's first delegate starts, or waits; no delegate of it does so any more.
  using OnChange = std::function<void(std::uint64_t ticket, bool has_delegate)>;

  // `slots` must outlive it.
  explicit DelegateTimes(chain::DelegateSlots& slots, OnChange on_change = nullptr);
  ~DelegateTimes() override;

  aio::Task<chain::Slot> acquire(chain::SlotRequest request) override;
  // A process that waits for us does not count.
  std::optional<chain::Slot> acquire_early() override { return slots_.acquire_early(); }

  // Counts for the request with this ticket while it lives.
  class Account {
   public:
    Account(DelegateTimes& times, std::uint64_t ticket);
    Account(const Account&) = delete;
    Account& operator=(const Account&) = delete;
    ~Account();

    // The time so far in which at least one delegate ran or waited for its slot.
    Clock::duration total() const;

   private:
    DelegateTimes& times_;
    std::uint64_t ticket_;
  };

 private:
  struct Watch;

  chain::DelegateSlots& slots_;
  OnChange on_change_;
  std::map<std::uint64_t, std::shared_ptr<Watch>> watches_;
};

}  // namespace mnet::admission
