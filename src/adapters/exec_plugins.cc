#include "adapters/exec_plugins.h"

#include <chrono>
#include <csignal>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/blocking_pool.h"
#include "aio/failpoint.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/plugins.h"
#include "chain/slots.h"
#include "cni/args.h"
#include "plugin/plugin.h"
#include "sys/spawn.h"

namespace mnet::adapters {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kTail = 4u << 10;
constexpr std::string_view kOutOfMemory =
    "the kernel killed it because memory ran out in the control group of this daemon; raise the "
    "memory limit of the daemon, or set maxDelegates lower";

std::string name_of(const std::string& binary) { return binary.substr(binary.rfind('/') + 1); }

std::optional<Errc> failure_of(const Result<plugin::Output>& output) {
  if (output) return std::nullopt;
  return output.error().code();
}

// The end of the text, from the start of a line if possible.
std::string end_of(std::string_view text) {
  text = trim(text);
  if (text.size() <= kTail) return std::string(text);
  text.remove_prefix(text.size() - kTail);
  const std::size_t line = text.find('\n');
  if (line != std::string_view::npos) text.remove_prefix(line + 1);
  return cat("...", text);
}

// Whether a failed ADD may have lacked an interface of the node.
bool may_be_explained(const chain::PluginRun& what) {
  return what.command == "ADD" &&
         (what.config.contains("\"master\"") || what.config.contains("\"device\""));
}

// The plugin's own code and message stay as they are.
Error explained(const Error& error, const std::string& hint) {
  if (hint.empty() || error.origin() == nullptr) return error;
  ErrorObject object = *error.origin();
  object.details = object.details.empty() ? hint : cat(object.details, "; ", hint);
  return Error::from_object(error.code(), std::move(object));
}

}  // namespace

ExecPlugins::ExecPlugins(aio::BlockingPool& pool, chain::DelegateSlots& slots,
                         ExecSettings settings, Log log)
    : pool_(pool), slots_(slots), settings_(std::move(settings)), log_(std::move(log)) {
  if (settings_.oom_kills) oom_kills_seen_ = settings_.oom_kills().value_or(0);
}

std::size_t ExecPlugins::slots_of(const std::string& type) const {
  return settings_.slots_of ? settings_.slots_of(type) : 1;
}

bool ExecPlugins::was_out_of_memory() {
  const auto kills = settings_.oom_kills ? settings_.oom_kills() : std::nullopt;
  if (!kills || *kills <= oom_kills_seen_) return false;
  ++oom_kills_seen_;  // others may have been killed, too, and will ask
  return true;
}

aio::Task<std::string> ExecPlugins::find(std::string type, std::vector<std::string> dirs) {
  auto found = co_await look_for(type, std::move(dirs));
  if (!found && found.error().code() == Errc::kNotFound && settings_.missing) {
    settings_.missing(type);
  }
  co_return found;
}

// A few stat calls are quicker than the way to the pool and back; only another mount namespace must
// not be entered by the loop's thread.
aio::Task<std::string> ExecPlugins::look_for(std::string type, std::vector<std::string> dirs) {
  if (settings_.world.mount_namespace.empty()) {
    co_return plugin::find_plugin(settings_.world, type, dirs);
  }
  co_return co_await pool_.run(
      [world = settings_.world, type = std::move(type), dirs = std::move(dirs)] {
        return plugin::find_plugin(world, type, dirs);
      });
}

plugin::Invocation ExecPlugins::invocation(const chain::PluginRun& what) const {
  plugin::Invocation invocation;
  invocation.world = settings_.world;
  invocation.binary = what.binary;
  invocation.env =
      plugin::environment(settings_.environment, {{"CNI_COMMAND", what.command},
                                                  {"CNI_CONTAINERID", what.container_id},
                                                  {"CNI_NETNS", what.netns},
                                                  {"CNI_ARGS", cni::args_text(what.args)},
                                                  {"CNI_IFNAME", what.ifname},
                                                  {"CNI_PATH", join(what.dirs, ":")},
                                                  {"MULTUS_REQUEST_ID", what.request_id}});
  invocation.is_expendable = settings_.delegates_are_expendable;
  invocation.control_group = settings_.control_group;
  invocation.deadline = std::chrono::steady_clock::now() + settings_.timeout;
  return invocation;
}

// What the returned error does not say: how long it took, and what a plugin that printed an error
// object also wrote to stderr (06, pain 40).
void ExecPlugins::report(const chain::PluginRun& what, std::chrono::steady_clock::duration took,
                         const std::string& complaint) const {
  const std::string line =
      cat(what.command, " ", what.binary, " for interface ", what.ifname, " of container ",
          what.container_id, " failed after ",
          std::chrono::duration_cast<std::chrono::milliseconds>(took).count(), " ms");
  const Log log = log_.with_request(what.request_id);
  if (complaint.empty()) return log.verbose(line);
  log.error(cat(line, "; stderr ended with ", go_quoted(complaint, kWhole)));
}

aio::Task<std::string> ExecPlugins::run(chain::PluginRun what) {
  return run_in_turn(std::move(what), std::nullopt);
}

// Scripts wait for their turn: a script in a known plugin's place may do anything before it reads
// its configuration. On the pool: the loop has better things to do than to stand still until the
// exec.
aio::Task<chain::EarlyRun> ExecPlugins::start_early(std::string type, chain::PluginRun what) {
  if (slots_of(type) > 1) co_return chain::EarlyRun();  // it takes its slots when it runs
  auto slot = slots_.acquire_early();
  if (!slot) co_return chain::EarlyRun();
  auto child = co_await pool_.run(
      [call = invocation(what), type = std::move(type), &what]() mutable -> Result<sys::Child> {
        MNET_TRY(auto&& binary, plugin::find_plugin(call.world, type, what.dirs));
        if (!plugin::is_machine_code(call.world, binary)) return Error(Errc::kDenied, "a script");
        call.binary = what.binary = std::move(binary);
        return plugin::start(call);
      });
  if (!child) co_return chain::EarlyRun();
  co_return [this, what = std::move(what),
             early = Early{*std::move(slot), *std::move(child)}](std::string config) mutable {
    what.config = std::move(config);
    return run_in_turn(std::move(what), std::move(early));
  };
}

aio::Task<std::string> ExecPlugins::run_in_turn(chain::PluginRun what, std::optional<Early> early) {
  const auto asked = Clock::now();
  chain::SlotRequest turn{.ticket = what.ticket,
                          .ns = what.pod_namespace,
                          .container_id = what.container_id,
                          .is_del = what.command == "DEL",
                          .caller = what.caller,
                          .slots = early ? 1 : slots_of(name_of(what.binary))};
  if (early) turn.held = std::move(early->slot);
  MNET_CO_TRY([[maybe_unused]] const auto& slot, co_await slots_.acquire(std::move(turn)));
  MNET_FAILPOINT("delegate-before-run");
  plugin::Invocation call = invocation(what);
  // Kept only if there may be something to say of it.
  const std::string kept = may_be_explained(what) && settings_.hint ? what.config : std::string();
  call.config = std::move(what.config);
  const auto begun = Clock::now();
  std::string complaint;
  call.started = [&what](pid_t) {
    if (what.started != nullptr) *what.started = true;
  };
  call.failed = [&complaint](const std::string& err) { complaint = end_of(err); };
  FinishedRun run{.type = name_of(what.binary), .command = what.command, .waited = begun - asked};
  call.ended = [this, &run](const sys::ExitStatus& status) -> std::string {
    run.peak_memory = status.peak_memory;
    run.was_out_of_memory = status.signal == SIGKILL && was_out_of_memory();
    return run.was_out_of_memory ? std::string(kOutOfMemory) : std::string();
  };
  auto running = early ? plugin::run_started(std::move(early->child), std::move(call))
                       : plugin::run(std::move(call));
  auto output = co_await std::move(running);
  MNET_FAILPOINT("delegate-after-run");
  run.took = Clock::now() - begun;
  run.failure = failure_of(output);
  if (settings_.finished) settings_.finished(run);
  if (!output) {
    report(what, run.took, complaint);
    co_return kept.empty() ? std::move(output).error()
                           : explained(output.error(), settings_.hint(kept));
  }
  if (!output->err.empty()) pass_on(what, output->err);
  co_return std::move(output->out);
}

// Meant for the people who run the plugin; if it failed, part of the error.
void ExecPlugins::pass_on(const chain::PluginRun& what, std::string_view words) const {
  log_.with_request(what.request_id)
      .verbose(cat(what.command, " ", what.binary, " says: ", end_of(words)));
}

}  // namespace mnet::adapters
