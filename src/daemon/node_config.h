// What the daemon does to the node's CNI configuration (03, 6). So far only the copy of 6.7.
#pragma once

#include "base/result.h"
#include "daemon/config.h"

namespace mnet::daemon {

// Copies the user's file to `<cniConfigDir>/<base name>`, atomically, mode 0600; nothing to do if
// it is there already. `failed to copy the user provided configuration <file>: …`
Result<void> copy_user_config(const Config& config);

}  // namespace mnet::daemon
