// How much runs at once (03, 2.11): requests being executed (`connectionLimit`) and delegate
// processes (`maxDelegates`). Knows nothing about what they do. Lives on the event loop.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "aio/task.h"
#include "chain/slots.h"

namespace mnet::admission {

// How many requests that have a slot may need the daemon itself at the same time. A request that
// waits for something else does not count; one that needs the daemon for longer than `longest`
// counts as waiting, so that it does not keep the others out.
struct Pace {
  std::size_t most = 0;
  std::size_t more_for_del = 0;
  std::chrono::milliseconds longest{3};
};

// How many slots there are, and how many of them one namespace's requests hold at most.
struct Shares {
  std::size_t slots = 1;
  std::size_t of_namespace = 1;
};

// A number of slots, shared between namespaces, then between the containers of each, whatever is
// run in them (decision 0041):
// - The next slot goes to the namespace that holds least, of equal ones to the one that has waited
//   longest for its turn; in it likewise to a container, of equal ones to the oldest request.
// - A namespace that holds slots leaves some to those that hold none. Plugins may run for minutes,
//   so the order alone would let one namespace hold everything for as long.
// - All that is not a DEL leaves some slots to DELs: a flood of ADDs never keeps a node from giving
//   back what it holds.
class Admission final : public chain::DelegateSlots {
 public:
  // Without `slots` there is no bound and no request waits. At least one slot is open to all,
  // whatever is kept.
  explicit Admission(std::optional<std::size_t> slots, std::size_t kept_for_del = 0);
  // Requests may take several slots at once, up to `of_namespace`. One that waits for many is not
  // passed by those that come after it and need few, unless it waits for its own namespace. After a
  // wait to its deadline its namespace's turn comes last.
  explicit Admission(Shares shares);
  // Gives slots at this pace. `executor` is the event loop's.
  Admission(std::optional<std::size_t> slots, std::size_t kept_for_del,
            const aio::asio::any_io_executor& executor, Pace pace);
  ~Admission() override;

  aio::Task<chain::Slot> acquire(chain::SlotRequest request) override;
  // Gives a slot only while no request waits and at most half of the slots are taken, this one
  // included. The other half keeps moving, so the plugin that the holder of an early slot waits for
  // always gets its turn. The slot counts for its namespace only from acquire() on, because its
  // holder can make no use of it earlier.
  std::optional<chain::Slot> acquire_early() override;

  // Ends the wait of the request with this ticket, if it waits: kCancelled. For callers that learn
  // without `caller` that it has left, which is cheaper where a thousand wait.
  void dismiss(std::uint64_t ticket);
  // A DEL has come: no other waiting request of its container is needed any more (02,
  // 0.5).
  void dismiss_others(const std::string& container_id);

  // To be called when a request that has a slot begins to wait for something else (a delegate), and
  // when it goes on. May outlive this.
  std::function<void(std::uint64_t ticket, bool is_waiting)> pacer() const;

  std::size_t running() const;
  std::size_t waiting() const;
  // The most that ever ran at the same time.
  std::size_t most() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // slots may outlive this
};

// Of a memory limit, for the daemon itself.
inline constexpr std::uint64_t kOwnMemory = 16u << 20;
// `maxDelegates` where the configuration says nothing: what the memory limit of our control group
// allows, 16 MiB for the daemon and 32 MiB for each delegate, from 2 to 64; without a limit four
// for each core, at least 8, at most 64.
std::size_t default_max_delegates(std::optional<std::uint64_t> memory_limit, unsigned cores);

// One request at a time, and one DEL beside it: two share one thread, and the second makes the
// first wait. Where the daemon has a core to itself, two: one may be with the disk.
Pace default_pace(unsigned cores);

// Requests executed at once where the configuration says nothing (`connectionLimit`): enough to
// keep all delegates busy while some wait for something else.
std::size_t default_max_requests(std::size_t max_delegates);

// Of these, what only DEL may take: an eighth, at least one.
std::size_t kept_for_del(std::size_t max_delegates);

// Of the others, what a namespace that holds slots leaves to those that hold none: an eighth, at
// least one; nothing if there is only one.
std::size_t left_to_others(std::size_t open_to_all);

}  // namespace mnet::admission
