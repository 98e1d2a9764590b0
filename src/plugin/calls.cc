// Runs with a fixed meaning: VERSION (01, 7.6), and a plugin that calls another (01, 7.7).
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/version_call.h"
#include "plugin/plugin.h"
#include "sys/environment.h"

namespace mnet::plugin {
namespace {

// "" has no directories, ":/a" has an empty one.
std::vector<std::string> directories(std::string_view path) {
  std::vector<std::string> out;
  if (path.empty()) return out;
  for (const std::string_view directory : split(path, ':')) out.emplace_back(directory);
  return out;
}

}  // namespace

aio::Task<std::vector<std::string>> fetch_versions(Invocation what) {
  // Very old plugins want all of them to be there.
  what.env = environment(what.env, {{"CNI_COMMAND", "VERSION"},
                                    {"CNI_CONTAINERID", ""},
                                    {"CNI_ARGS", ""},
                                    {"CNI_NETNS", "dummy"},
                                    {"CNI_IFNAME", "dummy"},
                                    {"CNI_PATH", "dummy"}});
  what.config = cni::version_request();
  auto output = co_await run(std::move(what));
  if (!output) co_return cni::read_version_outcome(std::move(output).error());
  co_return cni::read_version_outcome(std::move(output->out));
}

aio::Task<Output> delegate(std::string command, std::string type, std::string config,
                           std::vector<std::string> own_environment, aio::Deadline deadline) {
  MNET_CO_TRY(auto&& binary,
              find_plugin({}, type, directories(sys::variable(own_environment, "CNI_PATH"))));
  auto env = environment(own_environment, {{"CNI_COMMAND", std::move(command)}});
  co_return co_await run({.binary = std::move(binary),
                          .env = std::move(env),
                          .config = std::move(config),
                          .deadline = deadline});
}

}  // namespace mnet::plugin
