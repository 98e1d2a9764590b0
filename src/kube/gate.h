// How many requests run at once: those that pods wait for before all others, and each namespace its
// share of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "aio/task.h"
#include "aio/waiter.h"

namespace mnet::kube {

enum class Priority : std::uint8_t {
  kUrgent,  // a pod waits for it
  kLookup,  // a pod waits for it, too, but its author chose how many there are: definitions, claims
  kBackground,  // no pod waits for it: events
};

class Gate {
  struct State;
  struct Share;

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
    Slot(std::shared_ptr<State> state, Priority priority, std::shared_ptr<Share> share)
        : state_(std::move(state)), priority_(priority), share_(std::move(share)) {}
    std::shared_ptr<State> state_;
    Priority priority_ = Priority::kUrgent;
    std::shared_ptr<Share> share_;
  };

  // Lookups take a quarter of the slots at most, and background requests half of them, so that an
  // urgent one never waits for all of them.
  explicit Gate(std::size_t slots);

  // Within a priority the share that has fewest slots goes first, then the one that had its turn
  // longest ago; within a share, which is a namespace, those that came first. kTimeout, kCancelled:
  // the caller no longer waits.
  aio::Task<Slot> enter(Priority priority, std::string share, aio::Deadline deadline);

  std::size_t running() const;
  std::size_t waiting() const;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace mnet::kube
