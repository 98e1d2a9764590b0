// Which of the requests that wait for a slot goes next: those of the namespace that holds least,
// and among these those of the container that holds least (03, 2.11; decision 0041). Counts and
// orders; how many slots there are is for Admission. Each call costs the logarithm of what waits,
// unless it says otherwise.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mnet::admission {

struct Waiting;  // Admission's

class FairLine {
 public:
  struct Pod;
  struct Namespace;
  using Entries = std::multimap<std::uint64_t, std::shared_ptr<Waiting>>;  // by ticket

  // Where a request stands. Valid until it is granted or leaves.
  struct Seat {
    Pod* pod;
    bool is_del;
    Entries::iterator at;

    std::uint64_t ticket() const { return at->first; }
    Waiting& waiting() const { return *at->second; }
  };

  // `counts_dels_apart`: DELs are weighed against the DELs of their namespace or container, and
  // everything else against everything else; otherwise all against all.
  explicit FairLine(bool counts_dels_apart);
  ~FairLine();
  FairLine(const FairLine&) = delete;
  FairLine& operator=(const FairLine&) = delete;

  // What this container holds and waits for. Valid while it does either: to be followed by start()
  // or join().
  Pod& account(std::string ns, std::string container_id, std::uint64_t ticket);

  // It holds this many slots more, or less.
  void start(Pod& pod, bool is_del, std::size_t slots);
  void end(Pod& pod, bool is_del, std::size_t slots);
  // What its namespace holds of the slots that this kind of request is weighed against.
  static std::size_t held(const Pod& pod, bool is_del);

  Seat join(Pod& pod, bool is_del, std::uint64_t ticket, std::shared_ptr<Waiting> waiting);
  void leave(Seat seat);
  // leave() after a wait in vain: its namespace moves behind those that hold as much.
  void give_up(Seat seat);
  // leave() and start().
  void grant(Seat seat, std::size_t slots);

  // The request that goes next, of the DELs or of all others. If its namespace holds slots, so do
  // all other namespaces in this line.
  std::optional<Seat> first(bool is_del) const;
  // The same among the namespaces whose first request `may` go. Looks at each namespace.
  std::optional<Seat> first(bool is_del, const std::function<bool(const Seat&)>& may) const;
  // Which of first(true) and first(false) goes next if both may: the older one.
  static bool precedes(const Seat& one, const Seat& other);

  // All that wait with this ticket; all but DELs that wait for this container. Looks at each
  // container, or namespace.
  std::vector<Seat> with_ticket(std::uint64_t ticket);
  std::vector<Seat> of_container(std::string_view container_id);

  std::size_t size() const { return size_; }

 private:
  template <typename What>
  void change(Pod& pod, What what);
  void count(Pod& pod, bool is_del, std::ptrdiff_t change);
  void drop_if_idle(Pod& pod);

  // In each array the DELs' is [true]. What comes first goes first.
  struct NamespaceRank {
    std::size_t held;
    std::uint64_t turn;
    auto operator<=>(const NamespaceRank&) const = default;
  };
  const bool counts_dels_apart_;
  std::map<std::string, std::unique_ptr<Namespace>> namespaces_;
  std::array<std::map<NamespaceRank, Namespace*>, 2> order_;
  std::uint64_t clock_ = 0;  // one more at each event that has an order
  std::uint64_t newest_ = 0;
  std::size_t size_ = 0;
};

}  // namespace mnet::admission
