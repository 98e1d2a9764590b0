// Looks whether this node has what the daemon and the pods on it need (docs/operating.md,
// "Self-check"): what src/selfcheck judges is gathered here, from the daemon's configuration and
// objects. Nothing is changed.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "adapters/node_devices.h"
#include "aio/blocking_pool.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "daemon/config.h"
#include "daemon/objects.h"
#include "metrics/metrics.h"
#include "selfcheck/api.h"
#include "selfcheck/devices.h"
#include "selfcheck/finding.h"
#include "selfcheck/networks.h"

namespace mnet::daemon {

class SelfCheck {
 public:
  // All must outlive it and its tasks.
  SelfCheck(const Config& config, Objects& objects, adapters::NodeDevices& devices,
            aio::BlockingPool& pool, Log log)
      : config_(config), objects_(objects), devices_(devices), pool_(pool), log_(std::move(log)) {}

  // Waits for the objects until the deadline; their absence is a finding, not an error. Asks the
  // API only for definitions that are not in memory.
  enum class Kubelet : std::uint8_t {
    kIfNeeded,  // asked if a definition names a device
    kAlways,    // asked what it offers
  };
  aio::Task<selfcheck::Findings> look(aio::Deadline deadline, Kubelet kubelet);

  // Once, in the background of a daemon that starts: what is found is logged and counted.
  aio::Task<void> run();
  // Of the last run().
  std::vector<metrics::Sample> samples() const;

 private:
  aio::Task<std::vector<selfcheck::Network>> fetch_networks();
  aio::Task<selfcheck::Findings> check_devices();
  // Asks the server itself only if the objects are not there: to learn the reason.
  aio::Task<selfcheck::ApiVisit> visit_api(Result<void> loaded);

  const Config& config_;
  Objects& objects_;
  adapters::NodeDevices& devices_;
  aio::BlockingPool& pool_;
  const Log log_;
  selfcheck::Findings found_;
  std::vector<selfcheck::DeviceNeed> device_needs_;
};

// `multus-daemon -check`: prints what was found, a line for each, or all as JSON; the exit status,
// 1 if there is an error among it.
int run_self_check(const Config& config, bool as_json);
// The same where there is no configuration to check with.
int report_bad_configuration(const Error& why, bool as_json);

// Why a plugin with this configuration cannot work on this node; empty if nothing is known.
std::string node_hint(const std::string& plugin_config);

}  // namespace mnet::daemon
