// Where a delegate waits until it may run. The daemon bounds how many run at once (03, 2.11); thin
// multus, which runs one request, does not. Lives on the event loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "aio/task.h"
#include "attach/caller.h"

namespace mnet::adapters {

// Held while the delegate runs; the next in line gets it when this goes.
class Place {
 public:
  Place() = default;  // holds nothing
  explicit Place(std::move_only_function<void()> give_back) : give_back_(std::move(give_back)) {}
  Place(Place&& other) noexcept : give_back_(std::exchange(other.give_back_, nullptr)) {}
  Place& operator=(Place&& other) noexcept {
    if (this != &other) {
      release();
      give_back_ = std::exchange(other.give_back_, nullptr);
    }
    return *this;
  }
  ~Place() { release(); }

  void release() {
    if (auto give_back = std::exchange(give_back_, nullptr)) give_back();
  }

 private:
  std::move_only_function<void()> give_back_;
};

struct Turn {
  std::uint64_t ticket = 0;  // of the request: the older one's delegates go first
  bool is_del = false;       // may take the places that are kept for DEL
  std::shared_ptr<attach::Caller> caller = {};  // who may leave meanwhile; none: stays
};

class Places {
 public:
  virtual ~Places() = default;
  // Waits its turn. kCancelled if the caller leaves before it comes, or the coroutine is cancelled.
  virtual aio::Task<Place> take(Turn turn) = 0;
};

// Always a place.
class UnboundedPlaces final : public Places {
 public:
  aio::Task<Place> take(Turn) override { co_return Place(); }
};

}  // namespace mnet::adapters
