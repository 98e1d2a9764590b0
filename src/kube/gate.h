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
  kLookup,      // a pod waits for it, too, but its author chose how many there are: definitions
  kBackground,  // no pod waits for it: events
};

class Gate {
  struct State;

 public:
  // A slot, given back when this goes. May outlive the gate.
  class Slot {
   public:
    Slot() = default;
    Slot(Slot&&) noexcept = default;
    Slot& operator=(Slot&&) = delete;
    ~Slot();

   private:
    friend class Gate;
    Slot(std::shared_ptr<State> state, Priority priority)
        : state_(std::move(state)), priority_(priority) {}
    std::shared_ptr<State> state_;
    Priority priority_ = Priority::kUrgent;
  };

  // Lookups take a quarter of the slots at most, and background requests half of them, so that an
  // urgent one never waits for all of them.
  explicit Gate(std::size_t slots);

  // First come first served within a priority. kTimeout, kCancelled: the caller no longer waits.
  aio::Task<Slot> enter(Priority priority, aio::Deadline deadline);

  std::size_t running() const;
  std::size_t waiting() const;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace mnet::kube
