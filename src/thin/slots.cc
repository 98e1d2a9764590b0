#include "thin/slots.h"

#include <optional>
#include <utility>

#include "aio/cancel.h"
#include "aio/task.h"
#include "base/try.h"
#include "chain/caller.h"
#include "chain/slots.h"

namespace mnet::thin {

chain::Slot FewSlots::take() {
  ++taken_;
  return chain::Slot([this] {
    --taken_;
    freed_.notify_all();
  });
}

// A caller that leaves meanwhile is seen when the next slot is free.
aio::Task<chain::Slot> FewSlots::acquire(chain::SlotRequest request) {
  for (;;) {
    if (request.caller != nullptr && request.caller->gone()) co_return aio::cancelled_error();
    if (request.held) co_return *std::move(request.held);
    if (taken_ < kMost) co_return take();
    MNET_CO_TRY_VOID(co_await freed_.wait(request.deadline));
  }
}

std::optional<chain::Slot> FewSlots::acquire_early() {
  if (taken_ >= kMost / 2) return std::nullopt;
  return take();
}

}  // namespace mnet::thin
