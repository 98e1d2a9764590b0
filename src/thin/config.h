// What `multus`, the thin program, itself reads of the configuration on its stdin (02, 1; 03, 9.1);
// the core reads the rest. Pure.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "devices/kubelet_dir.h"
#include "json/json.h"
#include "model/delegate_timeout.h"
#include "settings/log_settings.h"

namespace mnet::thin {

struct Config : settings::LogSettings {
  std::string cni_version;  // of the printed result; empty means 0.1.0
  std::string cni_dir;
  std::string objects_dir;  // empty: there is no object source
  std::string kubeconfig;
  std::string kubelet_dir = devices::kDefaultKubeletDir;
  std::chrono::seconds delegate_timeout = model::kDelegateTimeout;
};

// A wrong type or value names its key.
Result<Config> read_config(const json::Object& document);

}  // namespace mnet::thin
