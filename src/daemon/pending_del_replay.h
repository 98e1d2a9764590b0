// DELs that reached no daemon or failed (03, 2.14): found on disk, replayed until they succeed or
// are given up (0053), and dropped when something newer makes them pointless. Lives on the event
// loop.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/admission.h"
#include "aio/blocking_pool.h"
#include "aio/event.h"
#include "aio/task.h"
#include "attach/attach.h"
#include "attach/ports.h"
#include "base/backoff.h"
#include "base/log.h"
#include "daemon/replay_queue.h"
#include "daemon/request.h"
#include "metrics/metrics.h"
#include "store/pending_dels.h"
#include "store/store.h"

namespace mnet::daemon {

// Names one record: a container's interface below one cniDir.
struct PendingKey {
  std::string cni_dir, container_id, ifname;
  friend auto operator<=>(const PendingKey&, const PendingKey&) = default;
};

struct PendingDelReplayNeeds {
  aio::BlockingPool& pool;
  attach::Attachments& core;
  admission::Admission& requests;
  metrics::Metrics& metrics;
  attach::ContainerLocks* locks = nullptr;  // none: no other daemon
  RequestRules rules;
  std::function<Arrival()> next_arrival;
  attach::DelRule* rule = nullptr;  // for every replay; none: in tests
  std::size_t at_once = 8;          // side by side, as ReplayQueue says
  // What fails of one namespace beyond that is given up after a while: who may write definitions
  // may make a plugin's DEL fail for ever, and each pod that comes and goes leaves files.
  std::size_t most_of_namespace = 1000;
};

class PendingDelReplay {
 public:
  PendingDelReplay(PendingDelReplayNeeds needs, Log log);

  // From now on the directory, which some request named, is searched, too.
  void look_in(const std::string& cni_dir) { directories_.insert(cni_dir); }

  // As long as it lives, no replay of this key begins: an ADD runs.
  class Hold {
   public:
    Hold(PendingDelReplay& owner, PendingKey key);
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold();

   private:
    PendingDelReplay& owner_;
    PendingKey key_;
  };

  // Whether there is a file of that name: a quick look, and mostly all that is needed.
  bool may_have(const PendingKey& key) const;
  // For an ADD: runs the recorded DEL, if there is one for exactly this key. A DEL that fails is
  // logged, and its record stays. An error: the record cannot be read or removed now; what is added
  // then would be deleted by a later replay. `log`: of the ADD.
  aio::Task<void> replay(PendingKey key, Log log);
  // Removes the record, if it is for exactly this key.
  aio::Task<void> forget(PendingKey key);

  // All records, now and again after pauses that begin with `period` and grow for one that fails;
  // new ones at least every `period`. Until cancelled or stopped.
  aio::Task<void> run(std::chrono::milliseconds period);
  // All of them now, whatever their pauses.
  void wake();
  // All records once, where nothing else runs; how many are left then.
  aio::Task<std::size_t> drain();
  // No replay begins any more; run() ends with those that have begun.
  void stop();

  // For people: one record, what it is about and how its last attempt ended.
  struct Waiting {
    std::string cni_dir, file;
    std::chrono::system_clock::time_point written;
    std::string container_id = {}, ifname = {}, pod_ns = {}, pod_name = {};
    std::string why = {};  // the last attempt failed, or it cannot be read; empty: none was made
    std::optional<std::chrono::seconds> next = {};  // until the next attempt
  };
  struct Listing {
    std::vector<Waiting> records;  // at most kMostListed
    std::size_t left_out = 0;
  };
  static constexpr std::size_t kMostListed = 1000;
  // Those whose files' names begin with `start`.
  aio::Task<Listing> describe(std::string start);
  // Replays one of them now, whatever its pause. The error says why it is still there.
  aio::Task<void> retry(std::string cni_dir, std::string file);
  bool is_stopped() const { return stopped_; }
  // A person gives it up: the record goes, no plugin runs. kNotFound if there is none.
  aio::Task<void> drop(std::string cni_dir, std::string file);

  const std::set<std::string>& directories() const { return directories_; }
  // Records that were there when they were last listed.
  std::size_t count() const { return count_; }
  // How long the oldest of these has been waiting, by the wall clock; 0 without any.
  std::chrono::seconds oldest_age() const;

 private:
  using Record = store::PendingDels::Record;
  using Time = std::chrono::steady_clock::time_point;
  // A record that has failed since this object started.
  struct Retry {
    Backoff pauses;
    Time next;
    int failures = 0;
    std::string why = {};  // the last one
    std::string ns = {};   // of its pod; known from the second attempt on
  };
  using Place = ReplayQueue::Place;

  // How one attempt ended.
  enum class Ended : std::uint8_t {
    kNotNow,     // something else works on the container, or this stops
    kDeleted,    // the record is gone
    kKept,       // it failed and is tried again
    kAbandoned,  // it was set aside, or given up
  };

  Waiting describe_one(const std::string& cni_dir, const Record& record) const;
  // Until cancelled or stopped.
  aio::Task<void> list_again(std::chrono::milliseconds period);
  aio::Task<void> list();
  // Replays what waits; until cancelled or stopped, or until nothing is left to do if `is_drain`.
  aio::Task<void> work(bool is_drain);
  aio::Task<void> work_side_by_side(std::vector<aio::Task<void>> beside, bool is_drain);
  bool is_due(const Place& place) const;
  void try_all_now();
  // Whether more DELs of pods of that namespace fail than are kept.
  bool has_too_many(const std::string& ns) const;
  // Whether a DEL that may be given up has been tried for long enough.
  bool is_old(const Place& place, const Record& record) const;
  Time next_listing(std::chrono::milliseconds period) const;
  std::chrono::milliseconds put_off(const Place& place, const Error& why);
  // What was listed.
  struct Count {
    std::size_t records = 0;
    std::optional<std::chrono::system_clock::time_point> oldest = {};
  };
  aio::Task<void> list_directory(std::string cni_dir, Count* count);
  aio::Task<void> replay_file(Place place);
  aio::Task<Ended> replay_record(std::string cni_dir, Record record, Result<CniCall> call);
  aio::Task<Ended> replay_request(std::string cni_dir, Record record, attach::Request request);
  aio::Task<Ended> give_up(std::string cni_dir, std::string file, attach::Request last_try,
                           Error why);
  aio::Task<void> remove(std::string cni_dir, std::string file);
  aio::Task<Ended> set_aside(std::string cni_dir, std::string file, Error why, Log log);
  // Keeps it for another try, or sets it aside if it can never be replayed.
  aio::Task<Ended> keep(std::string cni_dir, std::string file, Error why, Log log);
  // A record is one DEL as the core takes it; its request is an error if the core refuses it.
  Result<CniCall> read(const Record& record) const;
  using Found = std::optional<std::pair<std::string, CniCall>>;
  aio::Task<Found> find(PendingKey key);

  PendingDelReplayNeeds needs_;
  Log log_;
  std::set<std::string> directories_;
  std::multiset<PendingKey> held_;
  aio::Event wake_;  // stays set while records are listed
  ReplayQueue queue_;
  aio::Notifier queue_changed_;
  std::map<Place, Retry> retries_;
  std::chrono::milliseconds first_pause_{30'000};
  Random random_ = make_random();
  std::size_t count_ = 0;
  std::optional<std::chrono::system_clock::time_point> oldest_;
  bool stopped_ = false;
};

}  // namespace mnet::daemon
