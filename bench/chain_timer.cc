// Times ADD and DEL of a plugin chain run directly against the same through another plugin
// (multus-shim), in turns.
//
//   chain-timer -rounds N -netns PATTERN -conflist FILE -through FILE -through-config FILE
//   -cni-path DIRS
//
// PATTERN contains %d: namespaces 0 to 2N-1 must exist; each round takes two fresh ones. Prints
// {"direct": {...}, "through": {...}, "direct_del": {...}, "through_del": {...}} with medians in
// microseconds, and "through_cpu_us": what the other plugin's own processes took of the processor
// for an ADD and its DEL.
#include <sys/resource.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <ios>
#include <iterator>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "aio/task.h"
#include "base/command_line.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "bench/samples.h"
#include "bench/tool.h"
#include "cni/conf.h"
#include "json/json.h"
#include "plugin/plugin.h"

namespace mnet::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::optional<std::int64_t> rounds = 20;
  std::string netns, conflist_file, through, through_config_file, cni_path;
};

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Of those that have ended.
std::chrono::microseconds cpu_of_children() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  return std::chrono::seconds(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         std::chrono::microseconds(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

class Timer {
 public:
  Timer(Options options, cni::ConfList chain)
      : options_(std::move(options)),
        chain_(std::move(chain)),
        through_config_(contents(options_.through_config_file)) {
    for (const std::string_view dir : split(options_.cni_path, ':')) dirs_.emplace_back(dir);
  }

  aio::Task<json::Object> run() {
    for (std::int64_t round = 0; round < *options_.rounds; ++round) {
      auto direct = co_await time_direct(2 * round);
      if (!direct) co_return std::move(direct).error().wrap("direct");
      auto through = co_await time_through(2 * round + 1);
      if (!through) co_return std::move(through).error().wrap("through");
    }
    co_return json::Object{
        {"direct", direct_.to_json()},
        {"through", through_.to_json()},
        {"direct_del", direct_del_.to_json()},
        {"through_del", through_del_.to_json()},
        {"through_cpu_us", json::Number::of_text(cat(through_cpu_.count() / *options_.rounds))}};
  }

 private:
  aio::Task<std::string> call(std::string binary, std::string command, std::string config,
                              std::int64_t pod) {
    std::string netns = options_.netns;
    if (const auto at = netns.find("%d"); at != std::string::npos) netns.replace(at, 2, cat(pod));
    const std::string id = cat("timer", pod);
    plugin::Invocation invocation{
        .world = {},
        .binary = std::move(binary),
        .env = plugin::environment(
            {}, {{"CNI_COMMAND", command},
                 {"CNI_CONTAINERID", id},
                 {"CNI_NETNS", netns},
                 {"CNI_IFNAME", "eth0"},
                 {"CNI_ARGS", cat("IgnoreUnknown=1;K8S_POD_NAMESPACE=bench;K8S_POD_NAME=", id)},
                 {"CNI_PATH", options_.cni_path}}),
        .config = std::move(config),
        .deadline = Clock::now() + std::chrono::minutes(1),
    };
    auto output = co_await plugin::run(std::move(invocation));
    if (!output) co_return std::move(output).error().wrap(command);
    co_return std::move(output->out);
  }

  aio::Task<json::Value> call_direct(cni::PluginConf conf, std::string command, json::Value prev,
                                     std::int64_t pod) {
    MNET_CO_TRY(auto&& binary, plugin::find_plugin({}, conf.type, dirs_));
    MNET_CO_TRY(auto&& config, cni::plugin_stdin(conf, chain_.name, chain_.version, prev, {}));
    MNET_CO_TRY(auto&& out, co_await call(std::move(binary), command, std::move(config), pod));
    if (command != "ADD") co_return json::Value();
    co_return json::parse(out);
  }

  aio::Task<void> time_direct(std::int64_t pod) {
    const auto before = Clock::now();
    json::Value result;
    for (const cni::PluginConf& conf : chain_.plugins) {
      MNET_CO_TRY(auto&& added, co_await call_direct(conf, "ADD", std::move(result), pod));
      result = std::move(added);
    }
    direct_.add(Clock::now() - before);
    const auto added = Clock::now();
    for (const cni::PluginConf& conf : chain_.plugins | std::views::reverse) {
      MNET_CO_TRY([[maybe_unused]] const auto& deleted,
                  co_await call_direct(conf, "DEL", result, pod));
    }
    direct_del_.add(Clock::now() - added);
    co_return Result<void>();
  }

  aio::Task<void> time_through(std::int64_t pod) {
    const auto cpu = cpu_of_children();
    const auto before = Clock::now();
    MNET_CO_TRY([[maybe_unused]] const auto& added,
                co_await call(options_.through, "ADD", through_config_, pod));
    through_.add(Clock::now() - before);
    const auto answered = Clock::now();
    MNET_CO_TRY([[maybe_unused]] const auto& deleted,
                co_await call(options_.through, "DEL", through_config_, pod));
    through_del_.add(Clock::now() - answered);
    through_cpu_ += cpu_of_children() - cpu;
    co_return Result<void>();
  }

  Options options_;
  cni::ConfList chain_;
  std::string through_config_;
  std::vector<std::string> dirs_;
  Samples direct_, through_, direct_del_, through_del_;
  std::chrono::microseconds through_cpu_{0};
};

Result<json::Object> measure(Options options) {
  MNET_TRY(auto&& chain, cni::parse_conflist(contents(options.conflist_file)));
  boost::asio::io_context loop(1);
  Timer timer(std::move(options), std::move(chain));
  return aio::run(loop, timer.run());
}

int run(int argc, char** argv) {
  Options options;
  GoFlags flags("chain-timer",
                "Times a plugin chain run directly and through a plugin that delegates to it.");
  flags.add("rounds", &options.rounds, "how often each");
  flags.add("netns", &options.netns, "network namespaces, with %d for the number");
  flags.add("conflist", &options.conflist_file, "the chain");
  flags.add("through", &options.through, "the delegating plugin");
  flags.add("through-config", &options.through_config_file, "its configuration");
  flags.add("cni-path", &options.cni_path, "where the chain's plugins are");
  return run_tool(flags, argc, argv, [&] { return measure(std::move(options)); });
}

}  // namespace
}  // namespace mnet::bench

int main(int argc, char** argv) { return mnet::bench::run(argc, argv); }
