// Slots for delegate processes. The owner of the slots decides how many run at once on the node;
// the code that runs delegates does not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "aio/cancel.h"
#include "aio/task.h"
#include "chain/caller.h"

namespace mnet::chain {

// One slot, or several, given back when this goes. Movable; an empty one holds nothing.
class Slot {
 public:
  Slot() = default;
  explicit Slot(std::move_only_function<void()> give_back)
      : give_back_([all = std::move(give_back)](std::size_t) mutable { all(); }) {}
  // For several slots: `give_back` keeps as many as its argument says, and frees the others.
  explicit Slot(std::move_only_function<void(std::size_t)> give_back)
      : give_back_(std::move(give_back)) {}
  Slot(Slot&& other) noexcept : give_back_(std::exchange(other.give_back_, nullptr)) {}
  Slot& operator=(Slot&& other) noexcept {
    if (this == &other) return *this;
    release();
    give_back_ = std::exchange(other.give_back_, nullptr);
    return *this;
  }
  ~Slot() { release(); }

  void release() {
    if (auto give_back = std::exchange(give_back_, nullptr)) give_back(0);
  }
  // Of several, keeps `slots`, at least one, and gives the others back.
  void keep(std::size_t slots) {
    if (give_back_) give_back_(std::max<std::size_t>(1, slots));
  }

 private:
  std::move_only_function<void(std::size_t)> give_back_;
};

struct SlotRequest {
  std::uint64_t ticket = 0;                   // of the request: the older one goes first
  std::string ns = {};                        // of the pod, which shares with others; none: empty
  std::string container_id = {};              // likewise, if it is known
  bool is_del = false;                        // may take the slots that are kept for DEL
  std::shared_ptr<Caller> caller = {};        // the wait ends if it leaves; null: never
  std::optional<Slot> held = {};              // from acquire_early(): it becomes this one's slot
  std::size_t slots = 1;                      // that it takes, all of them at once
  aio::Deadline deadline = aio::kNoDeadline;  // until when it waits
};

class DelegateSlots {
 public:
  virtual ~DelegateSlots() = default;
  // Waits for a slot. kCancelled if the caller leaves before its turn comes, or the coroutine is
  // cancelled: the wait is then over. kTimeout at its deadline.
  virtual aio::Task<Slot> acquire(SlotRequest request) = 0;
  // A slot for a process that only waits for its configuration, if there is plenty of room; its
  // work begins with acquire().
  virtual std::optional<Slot> acquire_early() = 0;
};

// No limit: for tests, and for explanations, which run nothing.
class UnlimitedSlots : public DelegateSlots {
 public:
  aio::Task<Slot> acquire(SlotRequest request) override {
    if (request.caller != nullptr && request.caller->gone()) co_return aio::cancelled_error();
    co_return Slot();
  }
  std::optional<Slot> acquire_early() override { return Slot(); }
};

}  // namespace mnet::chain
