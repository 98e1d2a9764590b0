// Sends the events of pods to the Kubernetes API in the background (02, 5.6): repeats are counted
// on the first one, a flood is cut, and nothing waits for any of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <string>
#include <unordered_map>
#include <utility>

#include "aio/group.h"
#include "aio/task.h"
#include "attach/source.h"
#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "kube/kube.h"

namespace mnet::adapters {

// The last `most` keys that were used, and what is known of each.
template <typename Known>
class Recent {
 public:
  explicit Recent(std::size_t most) : most_(most) {}

  // Its entry, made if there is none. Valid until the next call.
  Known& at(const std::string& key) {
    const auto found = places_.find(key);
    if (found != places_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return found->second->second;
    }
    if (entries_.size() >= most_) {
      places_.erase(entries_.back().first);
      entries_.pop_back();
    }
    entries_.emplace_front(key, Known());
    places_.emplace(key, entries_.begin());
    return entries_.front().second;
  }

 private:
  std::size_t most_;
  std::list<std::pair<std::string, Known>> entries_;
  std::unordered_map<std::string, typename std::list<std::pair<std::string, Known>>::iterator>
      places_;
};

class KubeEvents {
 public:
  static constexpr std::size_t kMostWaiting = 1000;
  static constexpr std::size_t kMostRemembered = 1000;
  static constexpr int kBurst = 25;  // of one pod and type; then one in each kRefill
  static constexpr std::chrono::minutes kRefill{5};

  // The API must outlive it.
  KubeEvents(const aio::asio::any_io_executor& executor, kube::Api& api, Log log,
             const WallClock& clock = WallClock::system());

  void send(attach::PodEvent event);
  // Until what was sent so far has gone out or been given up; kTimeout. To be awaited before this
  // goes.
  aio::Task<void> flush(aio::Deadline deadline) { return senders_.join(deadline); }
  // Ends what runs.
  void cancel() { senders_.cancel(); }

  std::uint64_t dropped() const { return dropped_; }

 private:
  struct Sent {
    std::string name = {};  // of its object; empty: none yet
    std::uint64_t count = 0;
  };
  struct Bucket {
    bool is_known = false;
    double tokens = 0;
    std::chrono::steady_clock::time_point at = {};
  };

  bool may_send(const attach::PodEvent& event);
  aio::Task<void> work();
  aio::Task<void> deliver(attach::PodEvent event);
  aio::Task<bool> count_repeat(attach::PodEvent event, Sent sent);
  aio::Task<void> post(attach::PodEvent event, std::string name);
  std::string new_name(const std::string& pod);

  kube::Api& api_;
  const Log log_;
  const WallClock& clock_;
  Random random_ = make_random();
  std::deque<attach::PodEvent> waiting_;
  Recent<Sent> sent_{kMostRemembered};
  Recent<Bucket> buckets_{kMostRemembered};
  std::uint64_t dropped_ = 0;
  bool is_working_ = false;
  aio::Group senders_;
};

}  // namespace mnet::adapters
