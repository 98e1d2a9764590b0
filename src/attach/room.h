// Room in memory for requests whose texts are large (03, 2.11; decision 0052). Tenants choose these
// texts, and how many pods start at once. A request takes room for all that it builds before it
// builds any of it, once, and holds it until it ends.
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
inline constexpr std::size_t kLargestWeight = 5u << 17;
inline constexpr std::size_t kAnyWeight = std::numeric_limits<std::size_t>::max();

// There is one room for each: none of them waits for another's.
enum class RoomFor : std::uint8_t {
  kRequest,  // all but these
  kDel,      // and GC
  kStatus,   // the network status of a request, which may hold room for itself meanwhile
};

struct RoomRequest {
  std::size_t weight = 0;
  std::uint64_t ticket = 0;           // of the request: the older one goes first
  std::string ns, container_id = {};  // of the pod, which shares with others
  RoomFor purpose = RoomFor::kRequest;
  std::shared_ptr<chain::Caller> caller = {};  // who may leave meanwhile; none: stays
};

class Room {
 public:
  // What was given; it goes back with this.
  class Share {
   public:
    virtual ~Share() = default;
    // Gives back all but so much.
    virtual void keep(std::size_t weight) = 0;
  };

  virtual ~Room() = default;
  // What each request may weigh without asking.
  virtual std::size_t free() const = 0;
  // Waits for its turn. kCancelled if the caller leaves meanwhile; code 11 if the wait takes too
  // long.
  virtual aio::Task<std::unique_ptr<Share>> take(RoomRequest request) = 0;
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
  // It turned out lighter than was feared.
  void keep(std::size_t weight) {
    if (held_ == nullptr || weight >= weight_) return;
    held_->keep(weight);
    weight_ = weight;
  }

 private:
  std::unique_ptr<Room::Share> held_;
  std::size_t weight_ = 0;
};

}  // namespace mnet::attach
