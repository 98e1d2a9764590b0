#include "admission/fair_line.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace mnet::admission {
namespace {

// How often a container gets slots by its age; then it moves behind all that have come by now. So
// pods with few networks are served in order of arrival, and a pod with hundreds lets others pass.
constexpr unsigned kGrantsByAge = 16;

constexpr std::array kBoth = {false, true};

struct PodRank {
  std::size_t held;
  std::uint64_t age, moved, id;
  auto operator<=>(const PodRank&) const = default;
};

}  // namespace

struct FairLine::Pod {
  Namespace& ns;
  std::uint64_t age;        // its oldest ticket, or the newest of all when it was moved back
  std::uint64_t id;         // in order of arrival, for equal ages
  std::uint64_t moved = 0;  // when it was moved back
  unsigned grants = 0;      // that it has got
  std::array<std::size_t, 2> held{};
  std::array<Entries, 2> waiting{};
  std::string_view container_id{};

  PodRank rank(bool is_del) const { return {held[is_del], age, moved, id}; }
  bool is_idle() const {
    return std::ranges::none_of(
        kBoth, [&](bool is_del) { return held[is_del] > 0 || !waiting[is_del].empty(); });
  }
};

struct FairLine::Namespace {
  std::array<std::size_t, 2> held{};
  std::array<std::uint64_t, 2> turn{};  // when it came, or last got or gave back such a slot
  std::map<std::string, Pod, std::less<>> pods;
  std::array<std::map<PodRank, Pod*>, 2> order;
  std::string_view name;

  NamespaceRank rank(bool is_del) const { return {held[is_del], turn[is_del]}; }
};

FairLine::FairLine(bool counts_dels_apart) : counts_dels_apart_(counts_dels_apart) {}
FairLine::~FairLine() = default;

FairLine::Pod& FairLine::account(std::string name, std::string container_id, std::uint64_t ticket) {
  newest_ = std::max(newest_, ticket);
  const auto [at, is_new] = namespaces_.try_emplace(std::move(name));
  if (is_new) {
    at->second = std::make_unique<Namespace>();
    at->second->name = at->first;
    at->second->turn.fill(++clock_);
  }
  Namespace& ns = *at->second;
  const auto found = ns.pods.find(container_id);
  if (found != ns.pods.end()) return found->second;
  const auto made = ns.pods.emplace(std::move(container_id), Pod{ns, ticket, ++clock_}).first;
  made->second.container_id = made->first;
  return made->second;
}

// Everything that decides an order changes in `what`, while pod and namespace are in no ordered
// set.
template <typename What>
void FairLine::change(Pod& pod, What what) {
  Namespace& ns = pod.ns;
  for (const bool is_del : kBoth) {
    order_[is_del].erase(ns.rank(is_del));
    ns.order[is_del].erase(pod.rank(is_del));
  }
  what();
  for (const bool is_del : kBoth) {
    if (!pod.waiting[is_del].empty()) ns.order[is_del].emplace(pod.rank(is_del), &pod);
    if (!ns.order[is_del].empty()) order_[is_del].emplace(ns.rank(is_del), &ns);
  }
}

void FairLine::drop_if_idle(Pod& pod) {
  if (!pod.is_idle()) return;
  Namespace& ns = pod.ns;
  ns.pods.erase(ns.pods.find(pod.container_id));
  if (ns.pods.empty()) namespaces_.erase(namespaces_.find(std::string(ns.name)));
}

void FairLine::count(Pod& pod, bool is_del, std::ptrdiff_t change) {
  for (const bool counted : kBoth) {
    if (counts_dels_apart_ && counted != is_del) continue;
    pod.held[counted] += static_cast<std::size_t>(change);
    pod.ns.held[counted] += static_cast<std::size_t>(change);
    pod.ns.turn[counted] = ++clock_;
  }
}

void FairLine::start(Pod& pod, bool is_del, std::size_t slots) {
  change(pod, [&] {
    count(pod, is_del, static_cast<std::ptrdiff_t>(slots));
    if (++pod.grants % kGrantsByAge != 0) return;
    pod.age = newest_;
    pod.moved = ++clock_;
  });
}

void FairLine::end(Pod& pod, bool is_del, std::size_t slots) {
  change(pod, [&] { count(pod, is_del, -static_cast<std::ptrdiff_t>(slots)); });
  drop_if_idle(pod);
}

std::size_t FairLine::held(const Pod& pod, bool is_del) { return pod.ns.held[is_del]; }

FairLine::Seat FairLine::join(Pod& pod, bool is_del, std::uint64_t ticket,
                              std::shared_ptr<Waiting> waiting) {
  Seat seat{&pod, is_del, {}};
  change(pod, [&] {
    seat.at = pod.waiting[is_del].emplace(ticket, std::move(waiting));
    if (pod.moved == 0) pod.age = std::min(pod.age, ticket);
  });
  ++size_;
  return seat;
}

void FairLine::leave(Seat seat) {
  change(*seat.pod, [&] { seat.pod->waiting[seat.is_del].erase(seat.at); });
  --size_;
  drop_if_idle(*seat.pod);
}

void FairLine::give_up(Seat seat) {
  change(*seat.pod, [&] { seat.pod->ns.turn[seat.is_del] = ++clock_; });
  leave(seat);
}

void FairLine::grant(Seat seat, std::size_t slots) {
  start(*seat.pod, seat.is_del, slots);
  leave(seat);
}

std::optional<FairLine::Seat> FairLine::first(bool is_del) const {
  return first(is_del, [](const Seat&) { return true; });
}

std::optional<FairLine::Seat> FairLine::first(bool is_del,
                                              const std::function<bool(const Seat&)>& may) const {
  for (const auto& entry : order_[is_del]) {
    Pod& pod = *entry.second->order[is_del].begin()->second;
    const Seat seat{&pod, is_del, pod.waiting[is_del].begin()};
    if (may(seat)) return seat;
  }
  return std::nullopt;
}

bool FairLine::precedes(const Seat& one, const Seat& other) {
  if (one.pod == other.pod) return one.ticket() < other.ticket();
  const auto age = [](const Pod& pod) { return std::tie(pod.age, pod.moved, pod.id); };
  return age(*one.pod) < age(*other.pod);
}

std::vector<FairLine::Seat> FairLine::with_ticket(std::uint64_t ticket) {
  std::vector<Seat> found;
  for (const auto& entry : namespaces_) {
    for (auto& [container_id, pod] : entry.second->pods) {
      for (const bool is_del : kBoth) {
        auto [at, end] = pod.waiting[is_del].equal_range(ticket);
        for (; at != end; ++at) found.push_back({&pod, is_del, at});
      }
    }
  }
  return found;
}

std::vector<FairLine::Seat> FairLine::of_container(std::string_view container_id) {
  std::vector<Seat> found;
  for (const auto& [name, ns] : namespaces_) {
    const auto pod = ns->pods.find(container_id);
    if (pod == ns->pods.end()) continue;
    Entries& waiting = pod->second.waiting[false];
    for (auto at = waiting.begin(); at != waiting.end(); ++at) {
      found.push_back({&pod->second, false, at});
    }
  }
  return found;
}

}  // namespace mnet::admission
