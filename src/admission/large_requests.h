// The room in memory that requests with large texts share (03, 2.11; decision 0052). Lives on the
// event loop.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "admission/admission.h"
#include "aio/task.h"
#include "attach/room.h"

namespace mnet::admission {

// DELs, network statuses and all other requests have a room each, of two shares. A namespace holds
// at most one share of a room, and no request needs more. So one namespace alone keeps no request
// of another waiting, and ADDs keep no DEL waiting.
class LargeRequests final : public attach::Room {
 public:
  struct Settings {
    std::size_t free = 0;  // what each request may weigh without asking
    // After this time the request is told to try again: the runtime does not wait for ever. Its
    // namespace's turn is over; the next attempt stands behind those that hold as little.
    std::chrono::milliseconds longest_wait = std::chrono::seconds(60);
  };
  explicit LargeRequests(Settings settings);

  std::size_t free() const override { return settings_.free; }
  aio::Task<std::unique_ptr<Share>> take(attach::RoomRequest request) override;

  std::size_t waiting() const;
  // The weight of all that hold room, to the next kibibyte.
  std::size_t weight() const;

 private:
  Admission& room_for(attach::RoomFor purpose);

  const Settings settings_;
  Admission requests_, dels_, statuses_;
};

// What each of this many requests that are executed at once may weigh without asking.
std::size_t free_weight(std::size_t requests);

}  // namespace mnet::admission
