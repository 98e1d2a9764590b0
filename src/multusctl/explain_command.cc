#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/node_devices.h"
#include "aio/blocking_pool.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "kube/exec.h"
#include "kube/objects.h"
#include "manifests/objects.h"
#include "model/objects.h"
#include "multusctl/cluster.h"
#include "multusctl/commands.h"
#include "multusctl/daemons.h"
#include "multusctl/explain.h"
#include "multusctl/invocation.h"
#include "multusctl/node_socket.h"
#include "multusctl/print.h"
#include "multusctl/run_commands.h"
#include "settings/config.h"
#include "sys/file.h"
#include "wire/wire.h"

namespace mnet::multusctl {
namespace {

constexpr std::size_t kMaxFile = 16u << 20;
constexpr std::chrono::seconds kPatience{15};
constexpr std::string_view kOwnConfig = "00-multus.conf";

std::string daemon_config_path(const Invocation& invocation) {
  const std::string named = invocation.text("daemon-config");
  return named.empty() ? std::string(kDaemonConfig) : named;
}

// What a request of this node's runtime would bring, as far as there are files.
Result<void> read_node(const Invocation& invocation, ExplainInput& input,
                       std::string& kubelet_dir) {
  const std::string path = daemon_config_path(invocation);
  if (!sys::exists(path) && invocation.text("daemon-config").empty()) return {};
  MNET_TRY(auto&& config, settings::load_config(path, {}));
  kubelet_dir = config.kubelet_dir;
  MNET_TRY(const auto& text, sys::find_file(cat(config.cni_config_dir, "/", kOwnConfig), kMaxFile));
  input.is_node_known = text.has_value();
  json::Object own;
  if (text) {
    MNET_TRY(auto&& parsed, wire::parse_config(*text));
    own = std::move(parsed);
  }
  input.conf = wire::overlay(std::move(own), config.document, config.is_automatic());
  return {};
}

// The pod and the definitions of a manifest that is for this namespace.
Result<void> read_manifest(const std::string& path, std::string ns, ExplainInput& input) {
  MNET_TRY(const auto& text, path == "-" ? sys::read_all(STDIN_FILENO, "standard input", kMaxFile)
                                         : sys::read_file(path, kMaxFile));
  auto objects = manifests::parse_objects(text, std::move(ns));
  if (!objects) return std::move(objects).error().wrap(path);
  if (objects->pods.size() != 1) {
    return Error(Errc::kInvalid, cat(path, ": has ", objects->pods.size(),
                                     " pods; name a file with one (kind: Pod)"));
  }
  input.pod = std::make_shared<const model::PodObject>(std::move(objects->pods.front()));
  input.definitions = std::move(objects->networks);
  return {};
}

aio::Task<void> add_definitions(Cluster* cluster, ExplainInput* input) {
  MNET_CO_TRY(auto&& listed, co_await cluster->list(kDefinitions, ""));
  std::vector<model::NetworkDefinition> all;
  for (const json::Value& one : listed) {
    if (one.as_object() == nullptr) continue;
    MNET_CO_TRY(auto&& definition, kube::parse_network(*one.as_object()));
    all.push_back(std::move(definition));
  }
  // Those of the manifest win: they are what will be applied.
  for (model::NetworkDefinition& own : input->definitions) all.push_back(std::move(own));
  input->definitions = std::move(all);
  co_return Result<void>();
}

aio::Task<void> add_pod(Cluster* cluster, std::string name, ExplainInput* input) {
  MNET_CO_TRY(auto&& object, co_await cluster->get(kPods, cluster->ns(), std::move(name)));
  MNET_CO_TRY(auto&& pod, kube::parse_pod(object));
  input->pod = std::make_shared<const model::PodObject>(std::move(pod));
  co_return Result<void>();
}

// What the daemon's pod on that node says.
aio::Task<json::Object> explain_there(Cluster* cluster, std::string daemon_ns,
                                      model::PodObjectPtr pod) {
  MNET_CO_TRY(auto&& daemons,
              co_await find_daemons(cluster, std::move(daemon_ns), {pod->node_name}));
  const DaemonPod& daemon = daemons.front();
  if (!daemon.why_not.empty()) co_return Error(Errc::kUnavailable, daemon.why_not);
  kube::Exec exec{
      .ns = daemon.ns,
      .pod = daemon.name,
      .container = daemon.container,
      .command = {std::string(kInPod), "explain", "-n", pod->ns, pod->name, "-o", "json"}};
  MNET_CO_TRY(auto&& text,
              co_await cluster->run(std::move(exec), std::chrono::steady_clock::now() + kPatience));
  co_return json::parse_object(text);
}

class Explain {
 public:
  Explain(const Invocation& invocation, Surroundings& surroundings)
      : invocation_(invocation), surroundings_(surroundings) {}

  Result<json::Object> run() {
    ExplainInput input;
    MNET_TRY_VOID(read_node(invocation_, input, kubelet_dir_));
    const std::string manifest = invocation_.text("filename");
    auto cluster = Cluster::open(invocation_, surroundings_);
    if (!manifest.empty()) {
      const std::string named = cluster ? (*cluster)->ns() : invocation_.text("namespace");
      MNET_TRY_VOID(read_manifest(manifest, named.empty() ? "default" : named, input));
    }
    // A manifest with its definitions needs no cluster.
    const bool is_alone =
        !cluster && !manifest.empty() && cluster.error().code() == Errc::kNotFound;
    if (is_alone) return aio::run(explain(std::move(input)));
    if (!cluster) return cluster.error();
    return aio::run((*cluster)->loop(), with_cluster(cluster->get(), std::move(input)));
  }

 private:
  aio::Task<json::Object> with_cluster(Cluster* cluster, ExplainInput input) {
    if (input.pod == nullptr) {
      MNET_CO_TRY_VOID(co_await add_pod(cluster, invocation_.arguments.front(), &input));
      const std::string node = input.pod->node_name;
      if (!input.is_node_known && !node.empty()) {
        auto there = co_await explain_there(cluster, daemon_namespace(invocation_), input.pod);
        if (there) co_return there;
        surroundings_.output.complain(cat("node ", node), there.error().text());
      }
    }
    MNET_CO_TRY_VOID(co_await add_definitions(cluster, &input));
    co_return co_await explain_here(std::move(input));
  }

  // On the pod's own node its kubelet tells which devices it has.
  aio::Task<json::Object> explain_here(ExplainInput input) {
    const bool is_here = input.is_node_known && !input.pod->node_name.empty();
    if (!is_here) co_return co_await explain(std::move(input));
    aio::BlockingPool pool(1);
    adapters::NodeDevices devices(co_await aio::asio::this_coro::executor,
                                  {.kubelet_dir = kubelet_dir_}, pool, nullptr, Log());
    input.devices = &devices;
    auto explained = co_await explain(std::move(input));
    devices.cancel();
    (void)co_await devices.wait_ended(std::chrono::steady_clock::now() + kPatience);
    co_return explained;
  }

  const Invocation& invocation_;
  Surroundings& surroundings_;
  std::string kubelet_dir_;
};

}  // namespace

int run_explain(const Invocation& invocation, Surroundings& surroundings) {
  const bool has_manifest = !invocation.text("filename").empty();
  if (invocation.arguments.size() != (has_manifest ? 0u : 1u)) {
    surroundings.output.complain("explain", "name one pod, or a file with -f");
    return 2;
  }
  const auto explained = Explain(invocation, surroundings).run();
  if (!explained) {
    surroundings.output.complain("explain", excerpt(explained.error().text(), kWhole));
    return 1;
  }
  if (!invocation.text("output").empty()) return print_value(*explained, invocation, surroundings);
  surroundings.output.print(explained_text(*explained));
  return 0;
}

}  // namespace mnet::multusctl
