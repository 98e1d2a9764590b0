// For tests: the object source over a Kubernetes API, driven by a script. Commands come as lines of
// JSON on stdin, each with an `id`; answers go to stdout as they are ready, so that many can be
// under way at once. Ends with stdin.
//
//   kube-probe [--kubeconfig=FILE | --service-account=FOLDER] [--node=NAME] [--thin]
#include <fcntl.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/kube_source.h"
#include "aio/group.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "devices/devices.h"
#include "json/fields.h"
#include "json/json.h"
#include "kube/kube.h"
#include "model/objects.h"
#include "sys/environment.h"

namespace mnet {
namespace {

namespace asio = aio::asio;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct Options {
  std::string kubeconfig, service_account, node;
  bool is_thin = false;
};

Options parse_options(const std::vector<std::string>& words) {
  Options out;
  for (const std::string& word : words) {
    const auto mark = word.find('=');
    const std::string name = word.substr(0, mark);
    const std::string value = mark == std::string::npos ? "" : word.substr(mark + 1);
    if (name == "--kubeconfig") out.kubeconfig = value;
    if (name == "--service-account") out.service_account = value;
    if (name == "--node") out.node = value;
    if (name == "--thin") out.is_thin = true;
  }
  return out;
}

// One line of stdin.
struct Command {
  std::int64_t id = 0;
  std::string what, ns, name, uid, text, reason;
  bool is_warning = false, asks_for_networks = true;
  std::int64_t wait_ms = 0;
};

Result<Command> parse_command(std::string_view line) {
  MNET_TRY(auto&& object, json::parse_object(line));
  Command out;
  json::Fields fields(object);
  fields.read("id", out.id);
  fields.read("do", out.what);
  fields.read("namespace", out.ns);
  fields.read("name", out.name);
  fields.read("uid", out.uid);
  fields.read("text", out.text);
  fields.read("reason", out.reason);
  fields.read("warning", out.is_warning);
  fields.read("asksForNetworks", out.asks_for_networks);
  fields.read("waitMs", out.wait_ms);
  MNET_TRY_VOID(fields.done());
  return out;
}

json::Object describe(const model::PodObject& pod) {
  json::Object annotations;
  for (const auto& [key, value] : pod.annotations) annotations.set(key, value);
  return json::Object{{"namespace", pod.ns},     {"name", pod.name},
                      {"uid", pod.uid},          {"resourceVersion", pod.resource_version},
                      {"static", pod.is_static}, {"annotations", std::move(annotations)}};
}

json::Object describe(const model::NetworkDefinition& network) {
  json::Object out{
      {"namespace", network.ns}, {"name", network.name}, {"resourceName", network.resource_name}};
  if (network.config) out.set("config", *network.config);
  return out;
}

json::Object describe(const kube::Reflector& watch) {
  const auto down = watch.down_for();
  json::Object out{{"synced", watch.is_synced()},
                   {"lists", static_cast<std::int64_t>(watch.counters().lists)},
                   {"streams", static_cast<std::int64_t>(watch.counters().streams)},
                   {"failures", static_cast<std::int64_t>(watch.counters().failures)},
                   {"skipped", static_cast<std::int64_t>(watch.counters().skipped)}};
  if (down) {
    out.set("downMs", static_cast<std::int64_t>(
                          std::chrono::duration_cast<std::chrono::milliseconds>(*down).count()));
  }
  return out;
}

class Probe {
 public:
  Probe(asio::io_context& loop, std::unique_ptr<kube::Api> api, adapters::KubeSettings settings,
        const Log& log)
      : source_(loop.get_executor(), std::move(api), std::move(settings), log),
        claims_(source_.api(), kube::Retries()),
        slices_(loop.get_executor(), claims_, 20s, log),
        input_(loop, ::fcntl(0, F_DUPFD_CLOEXEC, 0)),
        watches_(loop.get_executor(), log),
        commands_(loop.get_executor(), log) {}

  aio::Task<void> run(bool follows) {
    if (follows) watches_.spawn("watches", source_.follow());
    std::string text;
    std::array<char, 64u << 10> buffer;
    for (;;) {
      auto [ended, count] = co_await input_.async_read_some(asio::buffer(buffer), aio::kAsValue);
      text.append(buffer.data(), count);
      for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
        start(text.substr(0, end));
        text.erase(0, end + 1);
      }
      if (ended) break;
    }
    auto done = co_await commands_.join();
    auto listed = co_await slices_.wait_ended(aio::kNoDeadline);
    watches_.cancel();
    auto stopped = co_await watches_.join();
    auto flushed = co_await source_.flush(Clock::now() + 5s);
    co_return Result<void>();
  }

 private:
  void start(const std::string& line) {
    auto command = parse_command(line);
    if (!command) {
      std::cout << json::dump(json::Object{{"error", command.error().text()}}) << '\n'
                << std::flush;
      return;
    }
    const std::string name = command->what;
    commands_.spawn(name, answer(*std::move(command)));
  }

  aio::Task<void> answer(Command command) {
    const auto began = Clock::now();
    auto result = co_await execute(command);
    json::Object out{{"id", command.id}};
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
    out.set("ms", static_cast<std::int64_t>(took.count()));
    if (result) {
      out.set("result", *std::move(result));
    } else {
      out.set("error", result.error().text());
      out.set("code", static_cast<int>(result.error().code()));
    }
    std::cout << json::dump(out) << '\n' << std::flush;
    co_return Result<void>();
  }

  aio::Task<json::Value> execute(Command command) {
    const aio::Deadline limit = Clock::now() + std::chrono::milliseconds(command.wait_ms);
    if (command.what == "find_pod") {
      MNET_CO_TRY(auto&& pod,
                  co_await source_.find_pod({.ns = command.ns,
                                             .name = command.name,
                                             .uid = command.uid,
                                             .wait = std::chrono::milliseconds(command.wait_ms)}));
      co_return pod == nullptr ? json::Value() : json::Value(describe(*pod));
    }
    if (command.what == "find_network") {
      MNET_CO_TRY(auto&& network,
                  co_await source_.find_network({.ns = command.ns, .name = command.name}));
      co_return network == nullptr ? json::Value() : json::Value(describe(*network));
    }
    if (command.what == "claimed_devices") co_return co_await claimed_devices(command);
    if (command.what == "find_status") {
      MNET_CO_TRY(auto&& status, co_await source_.find_status(pod_of(command)));
      co_return status ? json::Value(*status) : json::Value();
    }
    Result<void> done;
    if (command.what == "write_status") {
      done = co_await source_.write_status(pod_of(command), command.text, Log());
    } else if (command.what == "send") {
      source_.send({.pod = pod_of(command),
                    .is_warning = command.is_warning,
                    .reason = command.reason,
                    .message = command.text});
    } else if (command.what == "flush") {
      done = co_await source_.flush(limit);
    } else if (command.what == "wait_synced") {
      done = co_await source_.wait_synced(limit);
    } else if (command.what == "stats") {
      co_return stats();
    } else {
      co_return Error(Errc::kInvalid, cat("unknown command ", command.what));
    }
    if (!done) co_return std::move(done).error();
    co_return json::Value(true);
  }

  // What the claims of a pod hold, by resource.
  aio::Task<json::Value> claimed_devices(Command command) {
    MNET_CO_TRY(auto&& pod, co_await source_.find_pod(
                                {.ns = command.ns, .name = command.name, .uid = command.uid}));
    if (pod == nullptr) co_return Error(Errc::kNotFound, "no such pod");
    MNET_CO_TRY(auto&& claims, devices::parse_pod_claims(pod->resource_claims));
    devices::ClaimedDevices reader(claims_, slices_, pod->ns, pod->node_name, Log());
    MNET_CO_TRY(auto&& found, co_await reader.add_to({}, std::move(claims)));
    json::Object out;
    for (const auto& [resource, ids] : found) {
      json::Array all;
      for (const std::string& id : ids) all.emplace_back(id);
      out.set(resource, std::move(all));
    }
    co_return json::Value(std::move(out));
  }

  static model::PodObjectPtr pod_of(const Command& command) {
    model::PodObject pod;
    pod.ns = command.ns;
    pod.name = command.name;
    pod.uid = command.uid;
    if (command.asks_for_networks) pod.annotations["k8s.v1.cni.cncf.io/networks"] = "x";
    return std::make_shared<const model::PodObject>(std::move(pod));
  }

  json::Value stats() {
    return json::Object{{"pods", static_cast<std::int64_t>(source_.pods().size())},
                        {"networks", static_cast<std::int64_t>(source_.networks().size())},
                        {"requests", static_cast<std::int64_t>(source_.api().requests_made())},
                        {"podWatch", describe(source_.pod_watch())},
                        {"networkWatch", describe(source_.network_watch())}};
  }

  adapters::KubeSource source_;
  devices::ApiObjects claims_;
  devices::Slices slices_;
  asio::posix::stream_descriptor input_;
  aio::Group watches_;
  aio::Group commands_;
};

Result<kube::Config> load_config(const Options& options) {
  if (!options.kubeconfig.empty()) return kube::load_kubeconfig(options.kubeconfig);
  if (options.service_account.empty()) return kube::in_cluster_config(sys::environment());
  return kube::in_cluster_config(sys::environment(), options.service_account);
}

int run(const Options& options) {
  const Log log({stderr_target()}, LogLevel::kDebug);
  auto config = load_config(options);
  if (!config) {
    log.error("configuration", config.error());
    return 1;
  }
  kube::ApiSettings settings{.user_agent = "kube-probe"};
  settings.environment = sys::environment();
  auto api = kube::Api::make(*std::move(config), std::move(settings), log);
  if (!api) {
    log.error("API", api.error());
    return 1;
  }
  adapters::KubeSettings rules;
  rules.node_name = options.node;
  rules.follows = !options.is_thin;
  asio::io_context loop(1);
  Probe probe(loop, *std::move(api), std::move(rules), log);
  return aio::run(loop, probe.run(!options.is_thin)).has_value() ? 0 : 1;
}

}  // namespace
}  // namespace mnet

int main(int argc, char** argv) { return mnet::run(mnet::parse_options({argv + 1, argv + argc})); }
