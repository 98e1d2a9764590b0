// Sends the events of pods to the Kubernetes API in the background (02, 5.6): repeats are counted
// on the first one, a flood is cut, and nothing waits for any of it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/group.h"
#include "aio/task.h"
#include "attach/source.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sha256.h"
#include "json/json.h"
#include "kube/event.h"
#include "kube/kube.h"

namespace mnet::adapters {

// The last `most` keys that were used within `age`, and what is known of each. A key is kept as its
// hash: tenants choose its size. All entries are in one block, which grows as a whole: one by one
// they would lie between the blocks of requests and keep these pages for an hour (0047). Searched
// from end to end: what it is asked for is followed by a call of the API.
template <typename Known>
class Recent {
 public:
  using Clock = std::chrono::steady_clock;

  Recent(std::size_t most, Clock::duration age) : most_(most), age_(age) {}

  // Its entry, made if there is none. Valid until the next call.
  Known& at(std::string_view key, Clock::time_point now) {
    std::erase_if(entries_, [&](const Entry& entry) { return now - entry.used > age_; });
    const Sha256::Digest hash = sha256(key);
    Entry& entry = found_or_made(hash);
    entry.used = now;
    return entry.known;
  }
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Sha256::Digest hash;
    Known known = {};
    Clock::time_point used = {};
  };

  Entry& found_or_made(const Sha256::Digest& hash) {
    const auto found = std::ranges::find(entries_, hash, &Entry::hash);
    if (found != entries_.end()) return *found;
    if (entries_.size() < most_) return entries_.emplace_back(Entry{.hash = hash});
    return *std::ranges::min_element(entries_, {}, &Entry::used) = Entry{.hash = hash};
  }

  std::size_t most_;
  Clock::duration age_;
  std::vector<Entry> entries_;
};

class KubeEvents {
 public:
  static constexpr std::size_t kMostWaiting = 1000, kMostOfNamespace = 750;
  static constexpr std::size_t kAtOnce = 4;  // of different namespaces
  static constexpr std::size_t kMostRemembered = 1000;
  static constexpr int kBurst = 25;  // of one pod and type; then one in each kRefill
  static constexpr std::chrono::minutes kRefill{5};
  // API servers keep an event for an hour unless told otherwise: what is older cannot be counted
  // on.
  static constexpr std::chrono::hours kMemory{1};

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
  // What is kept of an event while it waits: not the pod's annotations.
  struct Waiting {
    std::string ns, pod, uid, resource_version;
    bool is_warning = false;
    std::string reason, message, request_id;
    std::string_view type() const { return is_warning ? "Warning" : "Normal"; }
  };
  struct Sent {
    std::chrono::system_clock::time_point first = {};  // names its object: kube::event_name
    std::uint64_t count = 0;                           // 0: there is none yet
  };
  struct Bucket {
    bool is_known = false;
    double tokens = 0;
    std::chrono::steady_clock::time_point at = {};
  };

  static Waiting waiting(attach::PodEvent event);
  static std::string key_of(const Waiting& event);
  static std::string events_path(const Waiting& event);
  static kube::Event event_of(Waiting event);
  bool may_send(const Waiting& event);
  void start();
  aio::Task<void> work();
  aio::Task<void> send_next(std::string ns);
  aio::Task<void> deliver(Waiting event);
  aio::Task<bool> count_repeat(Waiting event, Sent sent);
  aio::Task<void> post(Waiting event, std::chrono::system_clock::time_point now);

  kube::Api& api_;
  const Log log_;
  const WallClock& clock_;
  // Waiting events, by namespace; includes a namespace of which one is being sent.
  std::map<std::string, std::deque<Waiting>> waiting_;
  std::size_t count_ = 0;          // of all that wait
  std::deque<std::string> turns_;  // namespaces of which one may go
  Recent<Sent> sent_{kMostRemembered, kMemory};
  Recent<Bucket> buckets_{kMostRemembered, kBurst* kRefill};  // then it is full again
  std::uint64_t dropped_ = 0;
  std::size_t senders_at_work_ = 0;
  aio::Group senders_;
};

}  // namespace mnet::adapters
