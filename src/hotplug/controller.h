// Keeps the networks of running containers in step with their pods' annotations (05, 3): when a
// container is compared, how often what fails is tried again, and how much of it runs at once. What
// one comparison does is in pass.h. Lives on the event loop.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/event.h"
#include "aio/group.h"
#include "aio/task.h"
#include "aio/timer.h"
#include "attach/attach.h"
#include "base/backoff.h"
#include "base/log.h"
#include "hotplug/pass.h"
#include "model/attachment_record.h"
#include "model/hotplug_settings.h"
#include "model/objects.h"

namespace mnet::hotplug {

// What hot-plug needs of the program around it.
class Node {
 public:
  virtual ~Node() = default;
  // The directories that hold records.
  virtual std::set<std::string> directories() const = 0;
  // Whether all objects have been read.
  virtual bool is_loaded() const = 0;
  // No other process applies edits on this node while the returned object exists; nullptr: another
  // one does at present.
  virtual Result<std::shared_ptr<void>> try_lock() = 0;
  // From the store; nullptr if there is none.
  virtual model::PodObjectPtr find_pod(const std::string& ns, const std::string& name) const = 0;
  // An ADD of the container that the record describes. Only the parts of the record that concern
  // the whole container count.
  virtual Result<attach::Request> make_request(const std::string& cni_dir,
                                               const model::AttachmentRecord& record) = 0;
  // Waits for a slot, after all other requests; the returned object gives it back.
  virtual aio::Task<std::shared_ptr<void>> take_turn(attach::Request request) = 0;
  // How long one operation took that ran plugins, or tried to.
  virtual void observe(Op op, std::chrono::duration<double> took) = 0;
};

struct ControllerTimes {
  using Time = std::chrono::milliseconds;
  Time look{500};       // whether another process still has the lock
  Time merge{100};      // edits that follow so soon are applied together
  Time spread{5000};    // over which all containers are compared at the start
  Time event{300'000};  // between two events of the same failure
  Time client{5000};    // after which a client of /delegate has written the network status
  // A pod may cause this many passes that run plugins, and one more for each such period.
  double burst = 20;
  Time refill{15'000};
};

class Controller {
 public:
  // All of these must outlive it, and it must outlive its tasks.
  Controller(const aio::asio::any_io_executor& executor, attach::Attachments& attachments,
             Node& node, model::HotplugSettings settings, Log log, ControllerTimes times = {},
             Random random = make_random(), aio::Timer& timer = aio::Timer::steady());

  // Until stopped, or cancelled. To be started once, in a group.
  aio::Task<void> run();
  // No further pass or operation begins; run() ends with those that have begun, and returns the
  // lock.
  void stop();

  // From the store of pods, and from that of definitions.
  void pod_changed(const model::PodObjectPtr& before, const model::PodObjectPtr& now);
  void network_changed(const std::string& key);
  // A request has changed what is attached to the container.
  void container_changed(const std::string& cni_dir, const std::string& container_id);
  // A client of /delegate has, which may write the network status, too.
  void client_called(const std::string& cni_dir, const std::string& container_id);
  // A DEL of the container begins.
  void container_gone(const std::string& container_id);

  // For all containers, as of their last comparison.
  struct Counts {
    std::size_t wanted = 0, present = 0, failing = 0;
    std::size_t pending = 0;  // containers with a difference, or that wait to be compared
  };
  Counts counts() const;
  // How long the oldest difference has existed.
  std::chrono::seconds oldest_difference() const;
  enum class End : std::uint8_t { kOk, kError, kRejected };
  const std::map<std::pair<Op, End>, std::uint64_t>& operations() const { return operations_; }

 private:
  using Time = std::chrono::milliseconds;
  using Instant = std::chrono::steady_clock::time_point;

  struct Retry {
    explicit Retry(Backoff its_backoff) : backoff(std::move(its_backoff)) {}
    Backoff backoff;
    Instant due = {};
    Instant told = {};
    std::size_t reason = 0;  // hash of the notice
  };
  // One container.
  struct Entry {
    std::string cni_dir = {};
    std::string pod_key = {}, created = {};  // empty as long as its record could not be read
    std::optional<Instant> due = {};         // none: nothing is to be done
    bool is_running = false;                 // a pass
    bool is_alive = true;
    bool continues = false;  // its last pass ran out of time with work left
    bool is_quiet = false;   // nothing has changed since an earlier daemon reported it
    std::map<std::string, Retry> retries = {};  // by operation
    std::set<std::string> told = {};            // hashes of notices: pods choose their texts
    double credit = 0;                          // of passes that run plugins
    Instant credited = {};
    std::size_t wanted = 0, present = 0, failing = 0;
    std::optional<Instant> differs_since = {};     // an edit counts until it is compared
    std::optional<Instant> status_check = {};      // due then: a client may have written the status
    std::vector<model::StaleStatus> removed = {};  // since the last check
  };
  class Host;

  // nullptr: the controller was stopped meanwhile.
  aio::Task<std::shared_ptr<void>> wait_for_lock();
  aio::Task<void> follow(bool is_whole);
  // False: some records could not be listed.
  aio::Task<bool> list_all(Time spread);
  aio::Task<void> list(std::string cni_dir, Time spread);
  aio::Task<void> add_entry(std::string cni_dir, std::string container_id);
  Entry& entry_of(const std::string& cni_dir, const std::string& container_id, bool is_quiet);
  void put(const std::string& cni_dir, const model::AttachmentRecord& record, Instant due,
           bool is_quiet);
  // A container whose record cannot be read at present. It is not taken for one without networks:
  // its pass reads the record again, reports the error, and is repeated.
  void put_unread(const std::string& cni_dir, const std::string& container_id, Instant due,
                  bool is_quiet);
  void enqueue(const std::string& container_id, Instant due);
  void start_due();
  // The container whose turn it is, or that is due first; nullptr: there is none, or none may
  // begin.
  const std::pair<const std::string, Entry>* find_next() const;
  std::optional<Instant> next_due() const;
  Instant within(Time spread) const;
  aio::Task<void> handle(std::string container_id);
  aio::Task<PassOutcome> pass(std::string container_id, std::string cni_dir, StatusCheck check,
                              PassHost* host);
  StatusCheck take_check(Entry& entry) const;
  void conclude(const std::string& container_id, const Result<PassOutcome>& passed);
  void conclude_check(const std::string& container_id, bool was_due,
                      const Result<PassOutcome>& passed);
  bool has_newer(const std::string& container_id, const Entry& entry) const;
  Retry& retry_of(Entry& entry, const std::string& key);
  void fail(Entry& entry, const std::string& key);
  void forgive(Entry& entry);
  void try_anew(Retry& retry) const;
  // When one more pass that runs plugins may begin: at once, or when the pod has been quiet for a
  // while.
  Instant when_allowed(Entry& entry);
  bool take_credit(Entry& entry);
  void tell_of_host_network(const model::PodObjectPtr& before, const model::PodObjectPtr& now);
  void send(const model::PodObjectPtr& pod, bool is_warning, std::string_view reason,
            std::string message);

  attach::Attachments& attachments_;
  Node& node_;
  const model::HotplugSettings settings_;
  const Log log_;
  const ControllerTimes times_;
  const Random random_;
  aio::Timer& timer_;
  std::map<std::string, Entry> entries_;       // by container id
  std::map<std::string, std::string> unread_;  // directories of containers to be looked up
  // Present from the start, so that a rate can be taken of the first event.
  std::map<std::pair<Op, End>, std::uint64_t> operations_ = {{{Op::kAdd, End::kOk}, 0},
                                                             {{Op::kAdd, End::kError}, 0},
                                                             {{Op::kAdd, End::kRejected}, 0},
                                                             {{Op::kRemove, End::kOk}, 0},
                                                             {{Op::kRemove, End::kError}, 0}};
  bool has_clients_ = false;  // of /delegate
  bool is_active_ = false;    // the lock is held and all records were listed
  bool stops_ = false;
  std::size_t running_ = 0;
  aio::Event change_;
  aio::Group passes_;
};

}  // namespace mnet::hotplug
