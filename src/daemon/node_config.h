// What the daemon's configuration means for the node's CNI configuration (03, 6).
#pragma once

#include <string>

#include "base/result.h"
#include "daemon/config.h"
#include "json/json.h"
#include "nodeconf/generate.h"
#include "nodeconf/manager.h"

namespace mnet::daemon {

// Copies the user's file to `<cniConfigDir>/<base name>`, atomically, mode 0600; nothing to do if
// it is there already. `failed to copy the user provided configuration <file>: …`
Result<void> copy_user_config(const Config& config);

// The multus plugin's own object in the node's configuration where that is the user's; empty where
// there is none.
Result<json::Object> users_configuration(const Config& config);

// Removes temporary files that killed writers left in `cniConfigDir`: only names of ours, and none
// that another process may be writing just now.
Result<void> sweep_config_dir(const Config& config);

// Where the primary is looked for: `multusAutoconfigDir`, else `cniConfigDir`.
std::string autoconfig_dir(const Config& config);

// What goes into the generated file (03, 6.3).
nodeconf::Settings node_settings(const Config& config);

nodeconf::ManagerOptions manager_options(const Config& config);

}  // namespace mnet::daemon
