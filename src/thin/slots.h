// Slots for the delegates of one request: a pod's author chooses how many networks it has, and
// nothing else on the node limits how many of their plugins run side by side.
#pragma once

#include <cstddef>
#include <optional>

#include "aio/event.h"
#include "aio/task.h"
#include "chain/slots.h"

namespace mnet::thin {

class FewSlots : public chain::DelegateSlots {
 public:
  static constexpr std::size_t kMost = 8;

  aio::Task<chain::Slot> acquire(chain::SlotRequest request) override;
  // Half of them stay for those that have something to do.
  std::optional<chain::Slot> acquire_early() override;

 private:
  chain::Slot take();

  std::size_t taken_ = 0;
  aio::Notifier freed_;
};

}  // namespace mnet::thin
