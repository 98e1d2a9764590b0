// The node as hot-plug by annotation sees it: the daemon's records, pods and slots, and the lock
// that keeps two daemons from acting at once.
#pragma once

#include <chrono>
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
#include "aio/task.h"
#include "attach/attach.h"
#include "base/log.h"
#include "base/result.h"
#include "daemon/config.h"
#include "daemon/objects.h"
#include "daemon/pending_del_replay.h"
#include "daemon/request.h"
#include "hotplug/controller.h"
#include "hotplug/pass.h"
#include "metrics/metrics.h"
#include "model/attachment_record.h"
#include "model/objects.h"

namespace mnet::daemon {

struct HotplugNodeNeeds {
  admission::Admission& requests;
  const PendingDelReplay& pending;
  const Objects& objects;
  std::function<Arrival()> next_arrival;
  // As a request of the runtime would have it now: the daemon's configuration over the node's own.
  std::function<Result<attach::NetConfPtr>()> settings;
  metrics::Metrics& metrics;
  std::string cni_dir;  // of the lock
};

class HotplugNode : public hotplug::Node {
 public:
  // All must outlive it.
  HotplugNode(HotplugNodeNeeds needs, Log log) : needs_(std::move(needs)), log_(std::move(log)) {}

  std::set<std::string> directories() const override { return needs_.pending.directories(); }
  bool is_loaded() const override { return needs_.objects.is_loaded(); }
  Result<std::shared_ptr<void>> try_lock() override;
  model::PodObjectPtr find_pod(const std::string& ns, const std::string& name) const override {
    return needs_.objects.find_pod(ns, name);
  }
  Result<attach::Request> make_request(const std::string& cni_dir,
                                       const model::AttachmentRecord& record) override;
  aio::Task<std::shared_ptr<void>> take_turn(attach::Request request) override;
  void observe(hotplug::Op op, std::chrono::duration<double> took) override;

  // A client of /delegate has called while hot-plug is on: counted, and warned of once an hour.
  void note_foreign_call(std::string_view command);
  std::vector<metrics::Sample> foreign_calls() const;

 private:
  HotplugNodeNeeds needs_;
  Log log_;
  std::map<std::string, std::uint64_t> foreign_calls_;  // by command
  std::chrono::steady_clock::time_point warned_ = {};
};

// What the daemon's configuration, laid over that of the node, says for hot-plug. An error if the
// node's cannot be read: it may restrict what pods can select.
Result<attach::NetConfPtr> hotplug_settings(const Config& config);

void add_hotplug_metrics(metrics::Metrics& metrics, const hotplug::Controller& controller,
                         const HotplugNode& node);

}  // namespace mnet::daemon
