#include "daemon/hotplug_node.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/attach.h"
#include "attach/request.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "daemon/background_turn.h"
#include "daemon/config.h"
#include "daemon/node_config.h"
#include "daemon/request.h"
#include "hotplug/controller.h"
#include "hotplug/pass.h"
#include "json/json.h"
#include "metrics/metrics.h"
#include "model/attachment_record.h"
#include "model/netconf.h"
#include "sys/file.h"
#include "sys/file_lock.h"
#include "wire/wire.h"

namespace mnet::daemon {
namespace {

constexpr std::string_view kLockFile = "_hotplug";
constexpr std::chrono::hours kWarnEvery{1};

std::string_view name_of(hotplug::Op op) { return op == hotplug::Op::kAdd ? "add" : "remove"; }

std::string_view name_of(hotplug::Controller::End end) {
  switch (end) {
    case hotplug::Controller::End::kOk:
      return "ok";
    case hotplug::Controller::End::kError:
      return "error";
    case hotplug::Controller::End::kRejected:
      return "rejected";
  }
  return "error";
}

std::vector<metrics::Sample> operation_samples(const hotplug::Controller& controller) {
  std::vector<metrics::Sample> samples;
  for (const auto& [what, number] : controller.operations()) {
    samples.push_back({.labels = {{"op", std::string(name_of(what.first))},
                                  {"result", std::string(name_of(what.second))}},
                       .value = static_cast<double>(number)});
  }
  return samples;
}

std::vector<metrics::Sample> attachment_samples(const hotplug::Controller& controller) {
  const auto counts = controller.counts();
  const auto sample = [](const char* state, std::size_t number) {
    return metrics::Sample{.labels = {{"state", state}}, .value = static_cast<double>(number)};
  };
  return {sample("wanted", counts.wanted), sample("present", counts.present),
          sample("failing", counts.failing)};
}

}  // namespace

Result<std::shared_ptr<void>> HotplugNode::try_lock() {
  MNET_TRY_VOID(sys::make_directories(needs_.cni_dir, 0700));
  MNET_TRY(auto&& lock, sys::FileLock::try_file(cat(needs_.cni_dir, "/", kLockFile)));
  if (!lock) return std::shared_ptr<void>();
  return std::shared_ptr<void>(std::make_shared<sys::FileLock>(*std::move(lock)));
}

// What every delegate got at the pod's creation is in the record.
Result<attach::Request> HotplugNode::make_request(const std::string& cni_dir,
                                                  const model::AttachmentRecord& record) {
  MNET_TRY(const auto& settings, needs_.settings());
  auto conf = std::make_shared<model::NetConf>(*settings);
  conf->cni_dir = cni_dir;
  const Arrival arrival = needs_.next_arrival();
  attach::Request begun;
  begun.container_id = record.container_id;
  begun.netns = record.netns;
  begun.ifname = "eth0";
  begun.path = record.cni_path;
  begun.id = arrival.id;
  begun.ticket = arrival.ticket;
  begun.log = log_.with_request(arrival.id);
  begun.is_background = true;
  return attach::read_request(attach::Verb::kAdd, std::move(begun), attach::NetConfPtr(conf),
                              record.cni_args);
}

aio::Task<std::shared_ptr<void>> HotplugNode::take_turn(attach::Request request) {
  return take_background_turn(&needs_.requests, std::move(request), TurnOf::kOther);
}

void HotplugNode::observe(hotplug::Op op, std::chrono::duration<double> took) {
  needs_.metrics.observe_hotplug(name_of(op), took);
}

void HotplugNode::note_foreign_call(std::string_view command) {
  ++foreign_calls_[std::string(command)];
  const auto now = std::chrono::steady_clock::now();
  if (warned_.time_since_epoch().count() != 0 && now - warned_ < kWarnEvery) return;
  warned_ = now;
  log_.warning(
      "a client uses /delegate while hot-plug is on: both apply edits of the same annotation; "
      "remove the hot-plug controller, or turn the key hotplug off");
}

std::vector<metrics::Sample> HotplugNode::foreign_calls() const {
  std::vector<metrics::Sample> samples;
  samples.reserve(foreign_calls_.size());
  for (const auto& [command, number] : foreign_calls_) {
    samples.push_back({.labels = {{"command", command}}, .value = static_cast<double>(number)});
  }
  return samples;
}

Result<attach::NetConfPtr> hotplug_settings(const Config& config) {
  auto users = users_configuration(config);
  if (!users) {
    return std::move(users).error().wrap(
        cat("hot-plug needs the node's configuration ", config.multus_config_file));
  }
  const json::Object merged =
      wire::overlay(*std::move(users), RequestRules(config).server_config, config.is_automatic());
  return attach::read_settings(merged);
}

void add_hotplug_metrics(metrics::Metrics& metrics, const hotplug::Controller& controller,
                         const HotplugNode& node) {
  metrics.add_series(metrics::SeriesKind::kCounter, "multus_hotplug_operations_total",
                     "Networks plugged in or out by annotation",
                     [&controller] { return operation_samples(controller); });
  metrics.add_series(metrics::SeriesKind::kGauge, "multus_hotplug_attachments",
                     "Networks that annotations of running pods ask for, that are attached, and "
                     "that cannot be attached or removed",
                     [&controller] { return attachment_samples(controller); });
  metrics.add_gauge("multus_hotplug_pending",
                    "Containers whose networks differ from their pod's annotation, or that wait to "
                    "be compared with it",
                    [&controller] { return static_cast<double>(controller.counts().pending); });
  metrics.add_gauge(
      "multus_hotplug_oldest_difference_seconds", "How long the oldest difference has existed",
      [&controller] { return static_cast<double>(controller.oldest_difference().count()); });
  metrics.add_series(metrics::SeriesKind::kCounter, "multus_hotplug_foreign_calls_total",
                     "Requests of /delegate while hot-plug is on",
                     [&node] { return node.foreign_calls(); });
}

}  // namespace mnet::daemon
