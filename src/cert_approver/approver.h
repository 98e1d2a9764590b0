// Decides on nodes' requests for certificates as certs::judge() says, and tells the API (03, 8.2).
// Several may run at once: the server lets one of them decide. What is not ours is left alone.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "aio/event.h"
#include "aio/group.h"
#include "aio/task.h"
#include "base/backoff.h"
#include "base/log.h"
#include "certs/judge.h"
#include "kube/kube.h"

namespace mnet::cert_approver {

struct ApproverSettings {
  using Pause = std::chrono::milliseconds;
  kube::ReflectorSettings watch = {};  // path and selector are ours
  std::size_t at_once = 8;
  Pause first_pause{1000}, longest_pause{300'000};  // between tries for one request
  Pause rescan{3'600'000};                          // all are looked at again, beside the watch
  Pause call_time{30'000};
  Random random = make_random();
};

// The object with the verdict among its conditions.
json::Object with_decision(json::Object request, const certs::Verdict& verdict);

class Approver {
 public:
  struct Counters {
    std::uint64_t approved = 0, denied = 0;
    std::uint64_t conflicts = 0;  // another client changed the request meanwhile
    std::uint64_t failures = 0;   // tries that failed and are repeated, and failed scans
  };

  // Asks for nothing yet.
  Approver(const aio::asio::any_io_executor& executor, std::shared_ptr<kube::Api> api,
           ApproverSettings settings, const Log& log);
  ~Approver();

  // Until cancelled; once.
  aio::Task<void> run();

  // Whether a complete list of requests has been received.
  bool is_synced() const { return reflector_.is_synced(); }
  // Requests that are ours and not decided yet.
  std::size_t pending() const { return pending_.size(); }
  const Counters& counters() const { return counters_; }

 private:
  // What the watch tells, reduced to what is to be decided.
  class Queue;
  struct Item {
    std::string uid = {};
    std::string requester = {};
    std::uint64_t arrival = 0;
    Backoff backoff;
    std::chrono::steady_clock::time_point due = {};
    bool is_running = false;
  };
  using Items = std::map<std::string, Item>;

  void consider(const json::Object& object);
  bool knows(const std::string& name) const;
  void forget(const std::string& name);
  // Says once why a request is left alone that cannot be read.
  void tell_unreadable(const certs::SigningRequest& request, const std::string& why);
  aio::Task<void> work();
  aio::Deadline start_due();
  // Of those that are due, the one whose turn it is; nullptr: none.
  Items::value_type* next_due(std::chrono::steady_clock::time_point now);
  aio::Task<void> handle(std::string name, std::string uid);
  aio::Task<void> decide(std::string name);
  // False: another client changed the request since it was read.
  aio::Task<bool> try_decide(std::string name);
  aio::Task<void> rescan_for_ever();
  aio::Task<void> rescan();
  aio::Task<kube::ListEnd> scan_page(std::string path);
  void told(const certs::SigningRequest& request, const certs::Verdict& verdict);

  const ApproverSettings settings_;
  const Log log_;
  std::shared_ptr<kube::Api> api_;
  std::unique_ptr<Queue> queue_;
  kube::Reflector reflector_;
  Items pending_;
  std::map<std::string, std::uint64_t> turns_;  // by requester that has something pending
  std::uint64_t arrivals_ = 0, turn_ = 0;
  std::map<std::string, std::string> unreadable_;  // uids by name, of requests that were logged
  Counters counters_;
  aio::Notifier changes_;
  aio::Group tasks_;
};

}  // namespace mnet::cert_approver
