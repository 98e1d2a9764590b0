// How much is done at once (03, 2.11): requests being executed (`connectionLimit`) and delegate
// processes running (`maxDelegates`). Knows nothing of what is done. Lives on the event loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "aio/task.h"
#include "attach/caller.h"

namespace mnet::daemon {

// Held while the work is done; the next in line gets it when this goes.
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
  std::uint64_t ticket = 0;                     // of the request: the older one goes first
  bool is_del = false;                          // may take the places that are kept for DEL
  std::shared_ptr<attach::Caller> caller = {};  // who may leave meanwhile; none: stays
};

// A number of places, given in the order of the tickets. All that is not a DEL leaves some of them
// free, so that a flood of ADDs never keeps a node from giving back what it holds.
class Admission {
 public:
  // No `places`: no bound, nobody waits. At least one place is open to all, whatever is kept.
  explicit Admission(std::optional<std::size_t> places, std::size_t kept_for_del = 0);
  ~Admission();

  // Waits its turn. kCancelled if the caller leaves before it comes, or the coroutine is cancelled.
  aio::Task<Place> take(Turn turn);

  std::size_t running() const;
  std::size_t waiting() const;
  // The most that ever ran at once.
  std::size_t most() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // places may outlive this
};

// `maxDelegates` where the configuration says nothing: what the memory limit of our control group
// allows, 16 MiB for the daemon and 32 MiB for each delegate, from 2 to 64; without a limit four
// for each core, at least 8, at most 64.
std::size_t default_max_delegates(std::optional<std::uint64_t> memory_limit, unsigned cores);

// Of these, what only DEL may take: an eighth, at least one.
std::size_t kept_for_del(std::size_t max_delegates);

}  // namespace mnet::daemon
