// `multus-daemon -uninstall` (03, 2.1; 06, pain 19): leaves a node that works without us.
#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "daemon/config.h"

namespace mnet::daemon {

struct Uninstalled {
  std::vector<std::string> done;  // what was done, in order, for people
  std::vector<std::string> left;  // what could not be done, and why; empty: nothing of ours is left
};

// Restores the primary, replays pending DELs, then removes our configuration, the shim and the
// socket; goes on to the end whatever fails, and may be repeated. Touches nothing while a daemon
// still answers: it would put the configuration back.
Uninstalled uninstall(const Config& config, const Log& log);

}  // namespace mnet::daemon
