// Room in memory for requests whose configurations are large (03, 2.11; decision 0045). Tenants
// choose these texts, and how many pods start at once. A request takes room for all that it builds
// before it builds any of it, once, and holds it until it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "aio/task.h"
#include "base/try.h"
#include "chain/caller.h"

namespace mnet::attach {

// The most that one request may weigh (model::Weight), and all the room that it ever needs.
inline constexpr std::size_t kLargestWeight = 5u << 18;
inline constexpr std::size_t kAnyWeight = std::numeric_limits<std::size_t>::max();

struct RoomRequest {
  std::size_t weight = 0;
  std::uint64_t ticket = 0;           // of the request: the older one goes first
  std::string ns, container_id = {};  // of the pod, which shares with others
  bool is_del = false;
  std::shared_ptr<chain::Caller> caller = {};  // who may leave meanwhile; none: stays
};

class Room {
 public:
  virtual ~Room() = default;
  // What each request may weigh without asking.
  virtual std::size_t free() const = 0;
  // Waits for its turn. The room is given back when what this yields goes. kCancelled if the caller
  // leaves meanwhile; code 11 if the wait takes too long.
  virtual aio::Task<std::shared_ptr<void>> take(RoomRequest request) = 0;
};

// The room of one request.
class HeldRoom {
 public:
  std::size_t weight() const { return weight_; }
  // `room` may be missing: then there is no bound. A request that holds room takes no more: two
  // that hold some and wait for more would wait for each other.
  aio::Task<void> take(Room* room, RoomRequest request) {
    if (room == nullptr || held_ != nullptr || request.weight <= room->free()) {
      co_return Result<void>();
    }
    const std::size_t weight = request.weight;
    MNET_CO_TRY(auto&& held, co_await room->take(std::move(request)));
    held_ = std::move(held);
    weight_ = weight;
    co_return Result<void>();
  }

 private:
  std::shared_ptr<void> held_;
  std::size_t weight_ = 0;
};

}  // namespace mnet::attach
