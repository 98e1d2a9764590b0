// attach's plugins as processes: a slot, an environment, a time limit (03, 2.11 and 7).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aio/blocking_pool.h"
#include "attach/ports.h"
#include "base/error.h"
#include "base/log.h"
#include "chain/slots.h"
#include "model/delegate_timeout.h"
#include "plugin/plugin.h"
#include "sys/spawn.h"

namespace mnet::adapters {

// How one run went, for the metrics.
struct FinishedRun {
  std::string type;                              // name of the executable
  std::string command;                           // ADD, DEL, ...
  std::chrono::steady_clock::duration waited{};  // for its slot
  std::chrono::steady_clock::duration took{};
  std::optional<Errc> failure = {};
  std::uint64_t peak_memory = 0;  // sys::ExitStatus
  bool was_out_of_memory = false;
};

struct ExecSettings {
  plugin::World world;                                          // chrootDir, delegateMountNamespace
  std::chrono::milliseconds timeout = model::kDelegateTimeout;  // of one process
  // What delegates inherit: the daemon's own. CNI_* and MULTUS_REQUEST_ID are set anew.
  std::vector<std::string> environment;
  // Called on the event loop, if they are there: after each run; for each type that has no
  // executable.
  std::function<void(const FinishedRun&)> finished = {};
  std::function<void(const std::string& type)> missing = {};
  // How many slots a delegate of that type takes; none: one.
  std::function<std::size_t(const std::string& type)> slots_of = {};
  // When memory runs out the kernel kills delegates before us.
  bool delegates_are_expendable = false;
  // The control group in which delegates begin (sys::Program); -1: ours.
  int control_group = -1;
  // How many processes the kernel has killed in it so far because memory ran out.
  std::function<std::optional<std::uint64_t>()> oom_kills = {};
  // Why a plugin with this configuration cannot work on this node, for the error of a failed ADD;
  // empty: not known.
  std::function<std::string(const std::string& config)> hint = {};
};

class ExecPlugins : public chain::Plugins {
 public:
  // Pool and slots must outlive it.
  ExecPlugins(aio::BlockingPool& pool, chain::DelegateSlots& slots, ExecSettings settings, Log log);

  aio::Task<std::string> find(std::string type, std::vector<std::string> dirs) override;
  // A run that has begun is ended by cancelling and by its time limit, not by a caller that goes
  // away.
  aio::Task<std::string> run(chain::PluginRun what) override;
  aio::Task<chain::EarlyRun> start_early(std::string type, chain::PluginRun what) override;

 private:
  // One that was started ahead of its turn.
  struct Early {
    chain::Slot slot;
    sys::Child child;
  };
  aio::Task<std::string> run_in_turn(chain::PluginRun what, std::optional<Early> early);
  aio::Task<std::string> look_for(std::string type, std::vector<std::string> dirs);
  plugin::Invocation invocation(const chain::PluginRun& what) const;
  void report(const chain::PluginRun& what, std::chrono::steady_clock::duration took,
              const std::string& complaint) const;
  void pass_on(const chain::PluginRun& what, std::string_view words) const;
  std::size_t slots_of(const std::string& type) const;
  // Whether the kernel has killed one more since this was last asked.
  bool was_out_of_memory();

  aio::BlockingPool& pool_;
  chain::DelegateSlots& slots_;
  ExecSettings settings_;
  Log log_;
  std::uint64_t oom_kills_seen_ = 0;
};

}  // namespace mnet::adapters
