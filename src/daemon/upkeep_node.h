// The node as upkeep sees it: the daemon's records, pods, slots and metrics.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/admission.h"
#include "aio/blocking_pool.h"
#include "aio/task.h"
#include "attach/attach.h"
#include "base/log.h"
#include "daemon/config.h"
#include "daemon/objects.h"
#include "daemon/pending_del_replay.h"
#include "daemon/request.h"
#include "metrics/metrics.h"
#include "upkeep/upkeep.h"

namespace mnet::daemon {

struct UpkeepNodeNeeds {
  aio::BlockingPool& pool;
  admission::Admission& requests;
  const PendingDelReplay& pending;
  const Objects& objects;
  RequestRules rules;
  std::function<Arrival()> next_arrival;
  bool sees_host = false;
};

class UpkeepNode : public upkeep::Node {
 public:
  // All must outlive it.
  UpkeepNode(UpkeepNodeNeeds needs, Log log) : needs_(std::move(needs)), log_(std::move(log)) {}

  std::set<std::string> directories() const override { return needs_.pending.directories(); }
  aio::Task<std::vector<std::string>> list_records(std::string cni_dir) override;
  aio::Task<std::vector<std::string>> list_pending(std::string cni_dir) override;
  aio::Task<std::vector<std::string>> list_set_aside(std::string cni_dir) override;
  aio::Task<bool> is_in_work(std::string cni_dir, std::string container_id) override;
  // A folder of manifests need not have every pod.
  bool knows_pods() const override { return needs_.objects.kube() != nullptr; }
  upkeep::PodState find_pod(const model::AttachmentRecord& record) const override;
  aio::Task<std::set<std::uint64_t>> list_used_namespaces() override;
  bool sees_host() const override { return needs_.sees_host; }
  Result<attach::Request> make_del(const std::string& cni_dir,
                                   const model::AttachmentRecord& record,
                                   const std::string& ifname) override;
  aio::Task<std::shared_ptr<void>> take_turn(attach::Request request) override;
  void count(std::string_view action, bool succeeded) override;

  std::vector<metrics::Sample> counted() const;

 private:
  UpkeepNodeNeeds needs_;
  Log log_;
  std::map<std::pair<std::string, bool>, std::uint64_t> counts_;
};

// Whether the daemon, or its delegates, have the host's root in view (docs/reference.md,
// `reconcile`).
bool sees_host_root(const Config& config);

}  // namespace mnet::daemon
