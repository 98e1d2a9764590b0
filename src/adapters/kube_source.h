// attach's object source over the Kubernetes API: stores that follow this node's pods and all
// network definitions, live reads where they cannot tell, status and events written back.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "adapters/definition_reads.h"
#include "adapters/kube_events.h"
#include "adapters/kube_status.h"
#include "aio/task.h"
#include "aio/timer.h"
#include "attach/source.h"
#include "base/backoff.h"
#include "base/log.h"
#include "json/count.h"
#include "kube/definitions.h"
#include "kube/kube.h"

namespace mnet::adapters {

struct KubeSettings {
  std::string node_name = {};  // whose pods are followed; empty: none are, live reads only
  bool follows = true;         // false: no stores at all (thin multus)
  kube::Retries read = {};     // of one live read (02, 5.2)
  KubeStatus::Timing status = {};
  kube::ReflectorSettings watch = {};  // path and selector are ours
  Random random = make_random();
  aio::Timer* timer = &aio::Timer::steady();  // of statuses and of definitions that are missing
};

class KubeSource : public attach::ObjectSource {
 public:
  // Asks for nothing yet.
  KubeSource(const aio::asio::any_io_executor& executor, std::unique_ptr<kube::Api> api,
             KubeSettings settings, const Log& log);

  // Fills and follows the stores until cancelled; to be started once, in a group.
  aio::Task<void> follow();
  // Waits until both stores are filled for the first time. kTimeout.
  aio::Task<void> wait_synced(aio::Deadline deadline);
  // Says in the log which stores are not filled yet, in the original's words (03, 2.13).
  void report_unsynced() const;
  // Waits until events are written; kTimeout. Await it before this object is destroyed.
  aio::Task<void> flush(aio::Deadline deadline);
  // Gives up what flush() would wait for.
  void cancel();
  // After the last request: no request waits for what is still being read.
  void cancel_reads() { definition_reads_.cancel(); }

  aio::Task<model::PodObjectPtr> find_pod(attach::PodLookup lookup) override;
  bool is_complete() const override { return true; }
  aio::Task<model::NetworkDefinitionPtr> find_network(attach::NetworkLookup lookup) override {
    return definition_reads_.find(std::move(lookup));
  }
  std::optional<json::Count> count_network(const std::string& ns,
                                           const std::string& name) const override {
    const kube::Definitions::Summary* known = networks_.find(ns, name);
    return known == nullptr ? std::nullopt : std::optional(known->count);
  }
  // A pod that asks for no networks waits for 2 s at most, and goes without its status then.
  aio::Task<void> write_status(model::PodObjectPtr pod, std::string text, Log log) override {
    return status_.write(std::move(pod), std::move(text), std::move(log));
  }
  aio::Task<std::optional<attach::StatusDelay>> try_status(model::PodObjectPtr pod,
                                                           std::string text, Log log) override {
    return status_.attempt(std::move(pod), std::move(text), std::move(log));
  }
  aio::Task<std::optional<std::string>> find_status(model::PodObjectPtr pod) override;
  void send(attach::PodEvent event) override { events_.send(std::move(event)); }

  aio::Task<void> edit_status(model::PodObjectPtr pod, attach::StatusEdit edit) override {
    return status_.edit(std::move(pod), std::move(edit));
  }
  void observe(attach::ObjectChanges changes) override {
    pods_.observe(std::move(changes.pod));
    networks_.observe(std::move(changes.network));
  }

  // Objects that the stores lacked, so that the API was asked.
  std::uint64_t live_reads() const { return pod_reads_ + definition_reads_.count(); }
  std::uint64_t events_dropped() const { return events_.dropped(); }
  kube::Api& api() { return *api_; }
  const kube::Api& api() const { return *api_; }
  const kube::Store<model::PodObject>& pods() const { return pods_; }
  const kube::Definitions& networks() const { return networks_; }
  const kube::Reflector& pod_watch() const { return pod_watch_; }
  const kube::Reflector& network_watch() const { return network_watch_; }

 private:
  bool follows_pods() const { return settings_.follows && !settings_.node_name.empty(); }
  model::PodObjectPtr stored(const attach::PodLookup& lookup) const;
  aio::Task<model::PodObjectPtr> wait_stored(attach::PodLookup lookup, aio::Deadline deadline);
  aio::Task<model::PodObjectPtr> read_pod(attach::PodLookup lookup);

  const KubeSettings settings_;
  const Log log_;
  std::unique_ptr<kube::Api> api_;
  kube::Store<model::PodObject> pods_{&kube::parse_stored_pod};
  kube::Definitions networks_;
  kube::Reflector pod_watch_;
  kube::Reflector network_watch_;
  DefinitionReads definition_reads_;
  KubeStatus status_;
  KubeEvents events_;
  std::uint64_t pod_reads_ = 0;
};

}  // namespace mnet::adapters
