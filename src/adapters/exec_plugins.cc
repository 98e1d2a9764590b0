#include "adapters/exec_plugins.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "aio/failpoint.h"
#include "base/text.h"
#include "cni/args.h"

namespace mnet::adapters {

ExecPlugins::ExecPlugins(aio::BlockingPool& pool, DelegateSlots& slots, ExecSettings settings,
                         Log log)
    : pool_(pool), slots_(slots), settings_(std::move(settings)), log_(std::move(log)) {}

// A few stat calls are quicker than the way to the pool and back; only another mount namespace must
// not be entered by the loop's thread.
aio::Task<std::string> ExecPlugins::find(std::string type, std::vector<std::string> dirs) {
  if (settings_.world.mount_namespace.empty()) {
    co_return plugin::find_plugin(settings_.world, std::move(type), dirs);
  }
  auto found =
      co_await pool_.run([world = settings_.world, type = std::move(type), dirs = std::move(dirs)] {
        return plugin::find_plugin(world, type, dirs);
      });
  co_return found;
}

plugin::Invocation ExecPlugins::invocation(const attach::PluginRun& what) const {
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
  invocation.config = what.config;
  invocation.deadline = std::chrono::steady_clock::now() + settings_.timeout;
  return invocation;
}

aio::Task<std::string> ExecPlugins::run(attach::PluginRun what) {
  auto slot = co_await slots_.acquire(
      {.ticket = what.ticket, .is_del = what.command == "DEL", .caller = what.caller});
  if (!slot) co_return std::move(slot).error();
  MNET_FAILPOINT("delegate-before-run");
  auto output = co_await plugin::run(invocation(what));
  MNET_FAILPOINT("delegate-after-run");
  if (!output) co_return std::move(output).error();
  if (!output->err.empty()) {
    // Meant for whoever looks after the plugin; of one that failed it is part of the error.
    log_.with_request(what.request_id)
        .verbose(cat(what.command, " ", what.binary, " says: ", trim(output->err)));
  }
  co_return std::move(output->out);
}

}  // namespace mnet::adapters
