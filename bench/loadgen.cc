// Sends CNI requests to a daemon's socket, many at a time, or runs a plugin directly, and prints
// the durations as one JSON object.
//
//   loadgen -mode add|del -socket S -config FILE -netns PATH -count N -concurrency C -prefix ID
//           [-cni-path DIRS]
//   loadgen -mode direct -plugin FILE -config FILE -count N
//           only the plugin's ADD, one after another
//
// -netns may contain %d: the number of the request. Container ids and names of pods are
// <prefix><number>; -uids names a file with the pods' UIDs, one per line. An answer other than 200
// is a failure; the first few are printed on stderr.
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/group.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/command_line.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "bench/samples.h"
#include "bench/tool.h"
#include "http/http.h"
#include "json/json.h"
#include "plugin/plugin.h"
#include "sys/file.h"
#include "wire/wire.h"

namespace mnet::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string mode = "add";
  std::string socket, config_file, netns, plugin, uid_file;
  std::string prefix = "bench";
  std::string cni_path = "/opt/cni/bin";
  std::optional<std::int64_t> count = 100;
  std::optional<std::int64_t> concurrency = 1;
  std::string config;             // contents of config_file
  std::vector<std::string> uids;  // lines of uid_file
};

std::string numbered(std::string text, std::int64_t number) {
  if (const auto at = text.find("%d"); at != std::string::npos) text.replace(at, 2, cat(number));
  return text;
}

class Load {
 public:
  Load(boost::asio::io_context& loop, Options options)
      : loop_(loop), options_(std::move(options)) {}

  aio::Task<void> run() {
    aio::Group workers(loop_.get_executor(), Log({stderr_target()}, LogLevel::kError));
    start_ = Clock::now();
    for (std::int64_t i = 0; i < *options_.concurrency; ++i) {
      workers.spawn(cat("worker ", i), work());
    }
    auto joined = co_await workers.join();
    took_ = Clock::now() - start_;
    co_return joined;
  }

  json::Object report() const {
    const double seconds = std::chrono::duration<double>(took_).count();
    json::Object out = samples_.to_json();
    out.set("seconds", json::Number::of_text(std::to_string(seconds)));
    out.set("per_second",
            json::Number::of_text(std::to_string(static_cast<double>(samples_.size()) / seconds)));
    out.set("failures", failures_);
    return out;
  }

 private:
  aio::Task<void> work() {
    while (next_ < *options_.count) {
      const std::int64_t number = next_++;
      const auto before = Clock::now();
      auto answer = co_await http::request_unix(options_.socket, request(number),
                                                before + std::chrono::minutes(5));
      samples_.add(Clock::now() - before);
      if (!answer) {
        fail(answer.error().text());
      } else if (answer->status != 200) {
        fail(answer->body);
      }
    }
    co_return Result<void>();
  }

  http::ClientRequest request(std::int64_t number) const {
    const std::string id = cat(options_.prefix, number);
    const auto index = static_cast<std::size_t>(number);
    const std::string& uid = index < options_.uids.size() ? options_.uids[index] : id;
    wire::Request what;
    what.env = {{"CNI_COMMAND", options_.mode == "del" ? "DEL" : "ADD"},
                {"CNI_CONTAINERID", id},
                {"CNI_NETNS", numbered(options_.netns, number)},
                {"CNI_IFNAME", "eth0"},
                {"CNI_ARGS", cat("IgnoreUnknown=1;K8S_POD_NAMESPACE=bench;K8S_POD_NAME=", id,
                                 ";K8S_POD_INFRA_CONTAINER_ID=", id, ";K8S_POD_UID=", uid)},
                {"CNI_PATH", options_.cni_path}};
    what.config = options_.config;
    return {.method = "POST",
            .target = "/cni",
            .host = "dummy",
            .headers = {{"Content-Type", "application/json"}},
            .body = wire::to_text(what)};
  }

  void fail(std::string_view why) {
    if (++failures_ <= 3)
      std::fprintf(stderr, "loadgen: %.*s\n", static_cast<int>(why.size()), why.data());
  }

  boost::asio::io_context& loop_;
  Options options_;
  Clock::time_point start_;
  Clock::duration took_{};
  Samples samples_;
  std::int64_t next_ = 0;
  std::int64_t failures_ = 0;
};

// The plugin as the daemon would run it, without the daemon.
aio::Task<json::Object> run_directly(Options options) {
  Samples samples;
  for (std::int64_t i = 0; i < *options.count; ++i) {
    plugin::Invocation invocation{
        .world = {},
        .binary = options.plugin,
        .env = plugin::environment({}, {{"CNI_COMMAND", "ADD"},
                                        {"CNI_CONTAINERID", cat(options.prefix, i)},
                                        {"CNI_NETNS", numbered(options.netns, i)},
                                        {"CNI_IFNAME", "eth0"},
                                        {"CNI_ARGS", ""},
                                        {"CNI_PATH", options.cni_path}}),
        .config = options.config,
        .deadline = Clock::now() + std::chrono::minutes(1),
    };
    const auto before = Clock::now();
    auto output = co_await plugin::run(std::move(invocation));
    samples.add(Clock::now() - before);
    if (!output) co_return std::move(output).error();
  }
  co_return samples.to_json();
}

Result<json::Object> measure(Options options) {
  MNET_TRY(auto&& config, sys::read_file(options.config_file));
  options.config = std::move(config);
  if (!options.uid_file.empty()) {
    MNET_TRY(auto&& uids, sys::read_file(options.uid_file));
    for (const std::string_view uid : split(uids, '\n')) options.uids.emplace_back(uid);
  }
  boost::asio::io_context loop(1);
  if (options.mode == "direct") return aio::run(loop, run_directly(std::move(options)));
  Load load(loop, std::move(options));
  MNET_TRY_VOID(aio::run(loop, load.run()));
  return load.report();
}

int run(int argc, char** argv) {
  Options options;
  GoFlags flags("loadgen", "Loads a daemon with CNI requests, or times a plugin alone.");
  flags.add("mode", &options.mode, "add, del or direct");
  flags.add("socket", &options.socket, "the daemon's socket");
  flags.add("config", &options.config_file, "file with the configuration to send");
  flags.add("netns", &options.netns, "network namespace; %d is the number of the request");
  flags.add("plugin", &options.plugin, "the plugin to run (mode direct)");
  flags.add("prefix", &options.prefix, "what container ids begin with");
  flags.add("cni-path", &options.cni_path, "CNI_PATH");
  flags.add("uids", &options.uid_file, "file with the UIDs of the pods");
  flags.add("count", &options.count, "how many requests in all");
  flags.add("concurrency", &options.concurrency, "how many at a time");
  return run_tool(flags, argc, argv, [&] { return measure(std::move(options)); });
}

}  // namespace
}  // namespace mnet::bench

int main(int argc, char** argv) { return mnet::bench::run(argc, argv); }
