// How many requests run at once: those that pods wait for before all others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "aio/task.h"
#include "aio/waiter.h"

namespace mnet::kube {

enum class Priority : std::uint8_t {
  kUrgent,      // a pod waits for it
  kBackground,  // no pod does: events
};

class Gate {
  struct State;

 public:
  // A place, given back when this goes. May outlive the gate.
  class Place {
   public:
    Place() = default;
    Place(Place&&) noexcept = default;
    Place& operator=(Place&&) = delete;
    ~Place();

   private:
    friend class Gate;
    Place(std::shared_ptr<State> state, Priority priority)
        : state_(std::move(state)), priority_(priority) {}
    std::shared_ptr<State> state_;
    Priority priority_ = Priority::kUrgent;
  };

  // Background requests take half of the places at most, so that an urgent one never waits for all
  // of them.
  explicit Gate(std::size_t places);

  // First come first served within a priority. kTimeout, kCancelled: the place in line is given up.
  aio::Task<Place> enter(Priority priority, aio::Deadline deadline);

  std::size_t running() const;
  std::size_t waiting() const;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace mnet::kube
