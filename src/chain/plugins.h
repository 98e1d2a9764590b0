// The port through which a chain runs plugin executables. All calls come from the event loop, many
// at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "aio/task.h"
#include "chain/caller.h"
#include "cni/args.h"

namespace mnet::chain {

// One run of one plugin executable.
struct PluginRun {
  std::string binary;             // from find()
  std::string command;            // ADD, DEL, ...
  std::vector<std::string> dirs;  // becomes CNI_PATH
  std::string container_id, netns, ifname;
  cni::ArgPairs args;
  std::string config;  // stdin
  std::string request_id;
  std::uint64_t ticket = 0;
  std::string pod_namespace;       // of the request's pod: namespaces share the slots
  std::shared_ptr<Caller> caller;  // may leave while this waits for its slot; none: run it
  bool* started = nullptr;         // becomes true once the executable runs; outlives run()
};

// A plugin that was started ahead of its turn and waits for its configuration: called with it,
// once, this is run(). Let go without that, the plugin is ended.
using EarlyRun = std::move_only_function<aio::Task<std::string>(std::string config)>;

class Plugins {
 public:
  virtual ~Plugins() = default;
  // The executable of `type` in the first of `dirs` that has it; the texts of 01, 7.1.
  virtual aio::Task<std::string> find(std::string type, std::vector<std::string> dirs) = 0;
  // Waits for a slot (admission), runs the executable and yields its stdout (01, 7). kCancelled,
  // and nothing was run, if the caller left before its turn came.
  virtual aio::Task<std::string> run(PluginRun what) = 0;
  // Finds and starts the executable of `type` now, without a configuration: only for one that does
  // nothing before it has read that. None if there is no room to spare, or it cannot be started:
  // find() and run() tell why. Of `what` only the configuration is still open.
  virtual aio::Task<EarlyRun> start_early(std::string type, PluginRun what) = 0;
};

}  // namespace mnet::chain
