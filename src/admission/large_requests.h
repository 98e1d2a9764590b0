// The room in memory that requests with large configurations share (03, 2.11; decision 0045). Lives
// on the event loop.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "admission/admission.h"
#include "aio/task.h"
#include "attach/room.h"

namespace mnet::admission {

class LargeRequests final : public attach::Room {
 public:
  struct Settings {
    std::size_t free = 0;  // what each request may weigh without asking
    // Then it is told to try again: the runtime does not wait for ever, and a retry stands in line
    // as well as it did.
    std::chrono::milliseconds longest_wait = std::chrono::seconds(60);
  };
  explicit LargeRequests(Settings settings);

  std::size_t free() const override { return settings_.free; }
  aio::Task<std::shared_ptr<void>> take(attach::RoomRequest request) override;

  std::size_t waiting() const { return room_.waiting(); }
  // What those that hold room weigh, to the next kibibyte.
  std::size_t weight() const;

 private:
  const Settings settings_;
  Admission room_;
};

// What so many requests that are executed at once may weigh without asking.
std::size_t free_weight(std::size_t requests);

}  // namespace mnet::admission
