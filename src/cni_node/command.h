// The command line of cni-node (04, 1.1 to 1.5): what is to be done, with which directories. All
// names are checked here, before anything is touched.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "cni_node/names.h"
#include "nodetools/api_access.h"
#include "nodetools/health_server.h"

namespace mnet::cni_node {

// 04, 1.3.
struct Directories {
  std::string plugin_source, plugin_target;
  std::string config_source, config_target;
  std::string manifest_source;
  std::string state;           // a file
  std::string host_root = {};  // links of the node are followed in it
  // No option chose it, so a volume is expected there.
  bool is_usual_plugin_target = false, is_usual_config_target = false, is_usual_state = false;
};

struct Command {
  enum class Action : std::uint8_t {
    kInstall,
    kUninstall,
    kApply,
    kWatch,
    kRollback,
    kStatus,
    kVerify,
    kHealth,
    kList,
    kVersion,
    kHelp
  };
  Action action = Action::kHelp;
  enum class Output : std::uint8_t { kTable, kNames, kJson };
  Output output = Output::kTable;  // of `list`, `status`, `verify`

  // Each only if its option was given.
  std::optional<Lists> plugins = {}, configs = {}, manifests = {};
  Directories directories = {};
  nodetools::AccessOptions access = {};
  std::string field_manager = "cni-node";
  std::optional<std::set<std::string, std::less<>>> allowed_variables = {};
  std::chrono::seconds wait_time{30};
  std::optional<std::chrono::milliseconds> timeout = {};  // of the whole
  bool downgrades = false;
  std::optional<http::ListenAddress> listen = {};
  bool is_quiet = false, is_dry = false, is_strict = false, validates = true;
  bool pauses = false;

  // Of `watch`.
  std::string configmap_ns = {}, configmap = {};
  std::chrono::milliseconds resync{std::chrono::minutes(5)};
  bool cleans_up = false;
  std::string owner_ns = {}, owner = {};  // the DaemonSet with which everything goes
};

// An error's text is for the user as it stands; kNotFound: no such command, show the usage instead.
// Both are exit status 2.
Result<Command> parse_command(const std::vector<std::string>& words,
                              const std::vector<std::string>& environment);

std::string usage();

// `5m`, `1h30m`, `250ms`, `10` (seconds).
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

}  // namespace mnet::cni_node
