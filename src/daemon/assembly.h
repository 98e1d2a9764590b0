// All objects of a running daemon, built from its configuration and destroyed in reverse order.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "adapters/file_ports.h"
#include "adapters/host_links.h"
#include "adapters/missed_pods.h"
#include "adapters/node_devices.h"
#include "admission/admission.h"
#include "admission/delegate_memory.h"
#include "admission/delegate_times.h"
#include "admission/large_requests.h"
#include "aio/blocking_pool.h"
#include "aio/task.h"
#include "attach/attach.h"
#include "attach/ports.h"
#include "base/log.h"
#include "daemon/cni_service.h"
#include "daemon/config.h"
#include "daemon/hotplug_node.h"
#include "daemon/objects.h"
#include "daemon/operations.h"
#include "daemon/pending_del_replay.h"
#include "daemon/readiness.h"
#include "daemon/routes.h"
#include "daemon/upkeep_node.h"
#include "handover/handover.h"
#include "hotplug/controller.h"
#include "hotplug/hotplug.h"
#include "http/http.h"
#include "metrics/metrics.h"
#include "metrics/record_counts.h"
#include "status/writer.h"
#include "sys/cgroup.h"
#include "upkeep/rule.h"
#include "upkeep/upkeep.h"

namespace mnet::daemon {

// Destroyed only when no request and no task of it runs any more.
class Assembly {
 public:
  Assembly(const aio::asio::any_io_executor& executor, Config config, const Log& log);
  Assembly(const Assembly&) = delete;
  Assembly& operator=(const Assembly&) = delete;

  // Tells the owners of pods that were started without us, once, when all objects are read (pain
  // 3). To be started in a group.
  aio::Task<void> find_missed_pods();
  // What an earlier daemon owed is written when all objects are read. To be started in a group.
  aio::Task<void> take_up_statuses();
  // Begins no more work that no client asked for.
  void stop_own_work();

  Config config;
  aio::BlockingPool pool{4};  // overlaps the syncs of several requests; each thread costs memory
  metrics::Metrics metrics;
  Arrivals arrivals;
  admission::DelegateMemory memory;  // of delegates
  admission::Admission delegates;
  admission::Admission requests;
  admission::LargeRequests large;
  admission::DelegateTimes times;
  std::optional<sys::ChildGroup> group;  // of delegates
  adapters::FilePorts ports;
  Objects objects;
  adapters::NodeDevices devices;
  status::Writer statuses;  // used with the API only
  handover::Handover handover;
  attach::Attachments attachments;
  hotplug::Hotplug hotplug{attachments};
  adapters::HostLinks host_links;
  upkeep::Rule rule;
  Readiness readiness;
  PendingDelReplay pending;
  std::optional<HotplugNode> hotplug_node;        // none: hot-plug by annotation is off
  std::optional<hotplug::Controller> controller;  // likewise
  UpkeepNode upkeep_node;
  upkeep::Upkeep upkeep;
  Operations operations;
  CniService service;
  Routes routes;
  http::Server server;
  http::Server probes;  // under this daemon's own name: answers until the very end
  metrics::RecordCounts records;
  std::optional<adapters::MissedPods> missed;  // none without the API
  // For /status; may be empty.
  std::function<std::string()> primary;  // the path of the primary configuration, once it is chosen
  std::function<std::vector<std::string>()> last_errors;

 private:
  attach::Ports all_ports();
  aio::Task<std::string> status_text();
  void add_gauges();
  void make_controller(const aio::asio::any_io_executor& executor, const Log& log);
};

}  // namespace mnet::daemon
