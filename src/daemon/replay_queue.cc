#include "daemon/replay_queue.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mnet::daemon {

std::set<ReplayQueue::Place> ReplayQueue::known() const {
  std::set<Place> known;
  for (const auto& [ns, places] : waiting_) known.insert(places.begin(), places.end());
  for (const auto& [place, ns] : taken_) known.insert(place);
  return known;
}

// Drops the turns of namespaces that have nothing waiting or running. Not while files are unread:
// they may be of any namespace.
void ReplayQueue::drop_idle() {
  std::erase_if(waiting_, [](const auto& one) { return one.second.empty(); });
  if (!unread_.empty()) return;
  std::erase_if(namespaces_, [&](const auto& one) {
    return one.second.running == 0 && !waiting_.contains(one.first);
  });
}

void ReplayQueue::assign(const std::string& cni_dir, const std::vector<std::string>& files) {
  std::set<Place> listed;
  for (const std::string& file : files) listed.emplace(cni_dir, file);
  const auto is_gone = [&](const Place& place) {
    return place.first == cni_dir && !listed.contains(place);
  };
  std::erase_if(unread_, is_gone);
  for (auto& [ns, places] : waiting_) std::erase_if(places, is_gone);
  const std::set<Place> known = this->known();
  for (const Place& place : listed) {
    if (!known.contains(place)) unread_.insert(place);
  }
  drop_idle();
}

// The waiting one that goes next; end(): none may go.
ReplayQueue::Waiting::iterator ReplayQueue::first() {
  auto first = waiting_.end();
  for (auto one = waiting_.begin(); one != waiting_.end(); ++one) {
    const Namespace& ns = namespaces_[one->first];
    if (ns.running >= most_) continue;
    if (first == waiting_.end() || ns.precedes(namespaces_[first->first])) first = one;
  }
  return first;
}

std::optional<ReplayQueue::Place> ReplayQueue::take() {
  const auto from = unread_.empty() ? first() : waiting_.end();
  if (unread_.empty() && from == waiting_.end()) return std::nullopt;
  std::set<Place>& places = unread_.empty() ? from->second : unread_;
  Place place = places.extract(places.begin()).value();
  taken_.emplace(place, std::nullopt);
  std::erase_if(waiting_, [](const auto& one) { return one.second.empty(); });
  return place;
}

// While files are unread, a namespace that had a turn waits until it is known whose they are.
bool ReplayQueue::begin(const Place& place, const std::string& name) {
  Namespace& ns = namespaces_[name];
  const auto other = first();
  if (ns.running >= most_ || (ns.turn > 0 && !unread_.empty()) ||
      (other != waiting_.end() && namespaces_[other->first].precedes(ns))) {
    taken_.erase(place);
    waiting_[name].insert(place);
    return false;
  }
  ++ns.running;
  ns.turn = ++turns_;
  taken_[place] = name;
  return true;
}

void ReplayQueue::end(const Place& place) {
  const auto taken = taken_.extract(place);
  if (taken && taken.mapped()) --namespaces_[*taken.mapped()].running;
  drop_idle();
}

}  // namespace mnet::daemon
