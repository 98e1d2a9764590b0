// The daemon's command line (03, 2.1), in Go's dialect.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "json/json.h"

namespace mnet::daemon {

struct CommandLine {
  std::string config_file = "/etc/cni/net.d/multus.d/daemon-config.json";
  bool wants_version = false;
  bool wants_help = false;
  std::string probe;         // "healthz" or "readyz": ask the running daemon instead of being one
  bool wants_check = false;  // look whether the node has what we need instead of being one
  bool as_json = false;      // what it found
  bool wants_uninstall = false;  // leave the node without us instead of being a daemon
  bool pauses = false;           // then stay until a signal, for a container that must not end
  // What flags set over keys of the configuration file.
  json::Object overrides;
  // What to say of each flag of older documents that was given (03, 1.2).
  std::vector<std::string> warnings;
};

// The error's text goes above usage(), and the exit code is 2.
Result<CommandLine> parse_command_line(const std::vector<std::string>& words);
std::string usage();

}  // namespace mnet::daemon
