// What `multus`, the thin program, itself reads of the configuration on its stdin (02, 1; 03, 9.1);
// the core reads the rest. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/result.h"
#include "logfile/rotation.h"

namespace mnet::adapters {

struct ThinConfig {
  std::string cni_version;  // of the printed result; empty means 0.1.0
  std::string cni_dir;
  std::string objects_dir;  // empty: there is no object source
  std::string kubeconfig;
  std::chrono::milliseconds delegate_timeout = std::chrono::seconds(180);

  std::string log_file, log_level;
  bool log_to_stderr = true;
  logfile::Options log_options;
  LogFormat log_format = LogFormat::kText;
};

// A wrong type or value names its key.
Result<ThinConfig> parse_thin_config(std::string_view text);

}  // namespace mnet::adapters
