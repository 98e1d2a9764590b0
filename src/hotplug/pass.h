// Compares one container with its pod's annotation once, and applies the difference: removals, then
// additions, then the network status (05, 3.4 to 3.8). The controller decides when the next pass
// runs, and what follows from failures.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "aio/timer.h"
#include "attach/attach.h"
#include "attach/containers.h"
#include "attach/core.h"
#include "base/error.h"
#include "base/result.h"
#include "hotplug/container.h"
#include "hotplug/difference.h"
#include "model/attachment_record.h"
#include "model/hotplug_settings.h"
#include "model/network_status.h"
#include "model/objects.h"
#include "model/selection_element.h"

namespace mnet::hotplug {

enum class Op : std::uint8_t { kAdd, kRemove };

// Adds or removes one network.
struct Operation {
  Op op = Op::kAdd;
  std::string ifname, network;

  // The same for every attempt at it.
  std::string key() const;
};

// A client of /delegate may have written the network status from what it had read before
// (05, 3.12): it is read, and mended, though the record does not say that it lags behind.
struct StatusCheck {
  bool is_due = false;
  std::vector<model::StaleStatus> removed = {};  // what was unplugged lately
};

// Something that is reported once for a pod, not at every pass.
struct Notice {
  std::string_view reason;  // reason of the event
  std::string message;
  std::string value;  // what it is about: a new value is reported again
};

// Decides what may begin, and hears the outcome.
class PassHost {
 public:
  virtual ~PassHost() = default;
  // No further operation may begin.
  virtual bool stops() const = 0;
  // Whether this operation may run now; false: it failed a short while ago.
  virtual bool may_try(const Operation& operation) = 0;
  // `is_rejected`: it cannot be attached as it stands, and no plugin has run.
  virtual void note(const model::PodObjectPtr& pod, const Operation& operation,
                    std::chrono::steady_clock::duration took, const Result<void>& outcome,
                    bool is_rejected) = 0;
  virtual void tell(const model::PodObjectPtr& pod, Notice notice) = 0;
};

struct PassOutcome {
  bool is_recorded = true;  // something is known of the container
  // The container runs, and its pod is one whose annotation counts.
  bool is_eligible = false;
  bool is_alive = true;  // its namespace is there
  std::size_t wanted = 0, present = 0;
  std::set<std::string> failing = {};  // operations that are not done, by key
  bool is_unfinished = false;          // it took long: another pass goes on with the rest
  Result<void> status = {};            // outcome of writing it; an error: it lags behind
  std::vector<model::StaleStatus> removed = {};
};

class Pass {
 public:
  // All of these must outlive it, and it must outlive its task. `request`: an ADD of the container;
  // its caller leaves when a DEL of the container comes.
  Pass(attach::Core& core, const model::HotplugSettings& settings, PassHost& host,
       attach::Request request, StatusCheck check, aio::Timer& timer);

  // An error: nothing could be compared.
  aio::Task<PassOutcome> run();

 private:
  aio::Task<void> compare();
  aio::Task<void> judge();
  Result<bool> is_eligible();
  aio::Task<void> read_wanted();
  aio::Task<void> look_at_links();
  aio::Task<void> look_for_clients_networks(DifferenceRules* rules);
  aio::Task<void> keep_learned();
  bool lacks_index() const;
  void tell_refusals();
  aio::Task<void> apply();
  aio::Task<void> adopt();
  aio::Task<void> remove(Removal removal);
  aio::Task<void> add(Addition addition);
  aio::Task<void> attach(Addition addition, bool* is_rejected);
  aio::Task<void> write_status();
  aio::Task<std::vector<model::NetworkStatus>> statuses();
  std::vector<model::StaleStatus> stale_statuses() const;
  // Runs the operation to its end; if a DEL of the container comes, cuts it off after a while.
  aio::Task<void> bounded(aio::Task<void> task, std::chrono::milliseconds patience);
  // The pass has used its time: others wait for the worker, and for the room that it holds.
  bool is_spent();
  bool ends() const { return host_.stops() || request_.caller->gone(); }
  Job make_job(attach::Verb verb, std::string ifname) const;
  aio::Task<void> reload();

  attach::Core& core_;
  const model::HotplugSettings& settings_;
  PassHost& host_;
  attach::Request request_;
  const StatusCheck check_;
  aio::Timer& timer_;
  std::unique_ptr<Container> container_;
  std::vector<model::NetworkSelectionElement> wanted_;
  DifferenceRules rules_;
  Difference difference_;
  std::set<std::string> not_removed_;  // interfaces
  std::unique_ptr<attach::Containers::RunningAdd> running_;
  // For all networks that it looks up.
  attach::LiveReads reads_;
  std::chrono::steady_clock::time_point begun_;
  PassOutcome outcome_;
};

}  // namespace mnet::hotplug
