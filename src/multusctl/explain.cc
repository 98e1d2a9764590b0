#include "multusctl/explain.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/exec_plugins.h"
#include "adapters/file_ports.h"
#include "aio/blocking_pool.h"
#include "aio/task.h"
#include "attach/attach.h"
#include "attach/core.h"
#include "attach/plan.h"
#include "attach/ports.h"
#include "attach/request.h"
#include "attach/resolve.h"
#include "attach/source.h"
#include "base/address_family.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/caller.h"
#include "chain/slots.h"
#include "cni/args.h"
#include "json/at.h"
#include "json/count.h"
#include "json/json.h"
#include "json/secrets.h"
#include "model/attachment.h"
#include "model/default_routes.h"
#include "model/delegate.h"
#include "model/messages.h"
#include "model/netconf.h"
#include "model/objects.h"
#include "model/parallel.h"
#include "model/requested_networks.h"

namespace mnet::multusctl {
namespace {

// In the place of the cluster network where only the node knows it.
constexpr std::string_view kUnknownNetwork = "cluster-network";

// The definitions that were read beforehand. Writes nothing and sends nothing.
class FixedSource final : public attach::ObjectSource {
 public:
  explicit FixedSource(std::vector<model::NetworkDefinition> definitions) {
    for (model::NetworkDefinition& one : definitions) {
      const std::string key = one.key();
      definitions_[key] = std::make_shared<const model::NetworkDefinition>(std::move(one));
    }
  }

  aio::Task<model::PodObjectPtr> find_pod(attach::PodLookup) override {
    co_return model::PodObjectPtr();
  }
  bool is_complete() const override { return true; }
  aio::Task<model::NetworkDefinitionPtr> find_network(attach::NetworkLookup lookup) override {
    const auto found = definitions_.find(cat(lookup.ns, "/", lookup.name));
    co_return found == definitions_.end() ? model::NetworkDefinitionPtr() : found->second;
  }
  std::optional<json::Count> count_network(const std::string& ns,
                                           const std::string& name) const override {
    const auto found = definitions_.find(cat(ns, "/", name));
    if (found == definitions_.end()) return std::nullopt;
    return json::count(found->second->config.value_or(""));
  }
  aio::Task<void> write_status(model::PodObjectPtr, std::string, Log) override {
    co_return Result<void>();
  }
  void send(attach::PodEvent) override {}

 private:
  std::map<std::string, model::NetworkDefinitionPtr> definitions_;
};

// Stands for what only the kubelet of the pod's node can tell: of each resource that a definition
// names, as many devices as a pod can ask for.
class UnknownDevices final : public attach::Devices {
 public:
  static constexpr std::string_view kId = "given-by-the-kubelet";

  explicit UnknownDevices(const std::vector<model::NetworkDefinition>& definitions) {
    for (const model::NetworkDefinition& one : definitions) {
      if (one.resource_name.empty() || devices_.contains(one.resource_name)) continue;
      for (std::size_t i = 1; i <= kMostOfOne; ++i) {
        devices_[one.resource_name].push_back(cat(kId, "-", i));
      }
    }
  }

  aio::Task<std::map<std::string, std::vector<std::string>>> allocated(model::PodObjectPtr,
                                                                       std::string, Log) override {
    co_return devices_;
  }
  aio::Task<bool> is_device(model::PodObjectPtr, std::string, Log) override { co_return false; }
  std::string name() const override { return "the kubelet"; }

 private:
  static constexpr std::size_t kMostOfOne = 32;
  std::map<std::string, std::vector<std::string>> devices_;
};

json::Object with_unknown_network(json::Object conf) {
  for (const std::string_view key : {"clusterNetwork", "defaultNetworks", "delegates"}) {
    conf.erase_folded(key);
  }
  conf.set_folded("delegates", json::Array{json::Object{{"cniVersion", "1.0.0"},
                                                        {"name", kUnknownNetwork},
                                                        {"type", "known-on-the-node"}}});
  return conf;
}

Result<attach::Request> request_of(json::Object conf, const model::PodObject& pod) {
  if (conf.find_folded("cniVersion") == nullptr) conf.set("cniVersion", "1.0.0");
  if (conf.find_folded("name") == nullptr) conf.set("name", "multus-cni-network");
  attach::Request request;
  request.container_id = "explained";
  request.netns = "none";
  request.ifname = "eth0";
  request.pod = {.ns = pod.ns, .name = pod.name, .uid = pod.uid, .infra_container_id = {}};
  request.caller = std::make_shared<chain::Caller>();
  return attach::read_request(attach::Verb::kAdd, std::move(request),
                              attach::read_conf(attach::Verb::kAdd, std::move(conf)),
                              cni::ArgPairs());
}

std::string_view source_text(model::Source source) {
  switch (source) {
    case model::Source::kCluster:
      return "cluster network";
    case model::Source::kDefaultNetworks:
      return "defaultNetworks";
    case model::Source::kAuxChain:
      return "auxiliary chain";
    case model::Source::kAnnotation:
      return "annotation";
    case model::Source::kHotplug:
    case model::Source::kDelegateApi:
      return "hot-plug";
  }
  return "";
}

std::string routes_text(const model::RoutePlan& routes, std::size_t index) {
  std::vector<std::string> texts;
  for (const auto& [family, name] :
       {std::pair(AddressFamily::kV4, "IPv4"), {AddressFamily::kV6, "IPv6"}}) {
    const auto& owner = routes.owner(family);
    if (!owner) continue;
    if (owner->index != index) {
      texts.push_back(cat("loses ", name));
    } else {
      texts.push_back(
          cat("owns ", name, owner->gateway ? cat(" via ", owner->gateway->text()) : ""));
    }
  }
  return texts.empty() ? "as its plugins set them" : join(texts, ", ");
}

// Whether namespace isolation lets the pod have it, and why. What it forbids is an error before
// this.
std::string isolation_text(const model::NetConf& conf, const model::PodObject& pod,
                           const model::Delegate& delegate) {
  if (!conf.namespace_isolation) return "off";
  if (delegate.selection.name.empty()) return "does not apply: no annotation asks for it";
  const std::string& ns = delegate.selection.ns;
  if (ns == pod.ns) return "allowed: the pod's own namespace";
  if (model::may_select(conf, pod.ns, ns)) return cat("allowed: ", ns, " is in globalNamespaces");
  return cat("allowed: ", ns, " is multusNamespace, which default-network may name");
}

std::size_t batch_of(const std::vector<model::Batch>& batches, std::size_t index) {
  std::size_t number = 0;
  while (number < batches.size() && index >= batches[number].end) ++number;
  return number + 1;
}

// The configuration as its plugins would get it, but for what each adds at run time.
json::Value config_of(const model::Delegate& delegate) {
  auto parsed = json::parse(json::without_secrets(delegate.bytes));
  return parsed ? *std::move(parsed) : json::Value(excerpt(delegate.bytes));
}

json::Value args_of(const json::Object& args) {
  auto parsed = json::parse(json::without_secrets(json::dump(args)));
  return parsed ? *std::move(parsed) : json::Value();
}

class Explanation {
 public:
  explicit Explanation(ExplainInput input)
      : input_(std::move(input)),
        unknown_devices_(input_.definitions),
        source_(std::move(input_.definitions)) {
    if (!input_.is_node_known) input_.conf = with_unknown_network(std::move(input_.conf));
  }

  aio::Task<json::Object> run() {
    MNET_CO_TRY(auto&& request, request_of(input_.conf, *input_.pod));
    attach::Ports ports = ports_.ports();
    ports.source = &source_;
    ports.devices = input_.devices == nullptr ? &unknown_devices_ : input_.devices;
    const attach::Core core(ports, {});
    const attach::Job job(std::move(request), attach::Verb::kAdd);
    attach::Resolver resolver(core, job, input_.pod);
    auto resolved = co_await resolver.resolve();
    if (!resolved) co_return model::core_error(resolved.error(), job.pod);
    auto planned = attach::plan_add(job, std::move(resolved->delegates));
    if (!planned) co_return planned.error();
    co_return describe(*planned, resolved->routes, job.conf);
  }

 private:
  json::Object describe(const std::vector<model::AttachmentPtr>& attachments,
                        const model::RoutePlan& routes, const model::NetConf& conf) const {
    const auto batches = model::batches_of(attachments, conf.parallel_attach);
    json::Array networks;
    bool has_devices = false;
    for (std::size_t i = 0; i < attachments.size(); ++i) {
      const model::Attachment& one = *attachments[i];
      has_devices |= !one.delegate.selection.resource_name.empty();
      networks.push_back(json::Object{{"interface", one.ifname},
                                      {"network", one.delegate.name},
                                      {"cniName", one.delegate.cni_name},
                                      {"source", source_text(one.delegate.source)},
                                      {"types", json::Value(one.delegate.types)},
                                      {"batch", static_cast<std::int64_t>(batch_of(batches, i))},
                                      {"defaultRoutes", routes_text(routes, i)},
                                      {"isolation", verdict_of(conf, one.delegate)},
                                      {"resource", one.delegate.selection.resource_name},
                                      {"device", one.delegate.selection.device_id},
                                      {"capabilityArgs", args_of(one.capability_args)},
                                      {"config", config_of(one.delegate)}});
    }
    return {{"version", 1},
            {"pod", input_.pod->key()},
            {"isolation", conf.namespace_isolation},
            {"networks", std::move(networks)},
            {"unknown", json::Value(unknowns(has_devices))}};
  }

  std::string verdict_of(const model::NetConf& conf, const model::Delegate& delegate) const {
    return input_.is_node_known ? isolation_text(conf, *input_.pod, delegate) : "not known here";
  }

  std::vector<std::string> unknowns(bool has_devices) const {
    std::vector<std::string> texts;
    if (!input_.is_node_known) {
      texts.emplace_back(
          "only the node knows the cluster network, defaultNetworks and namespaceIsolation");
    }
    if (input_.devices == nullptr && has_devices) {
      texts.emplace_back("the kubelet allocates the devices when the pod starts");
    }
    return texts;
  }

  ExplainInput input_;
  UnknownDevices unknown_devices_;
  FixedSource source_;
  aio::BlockingPool pool_{1};
  chain::UnlimitedSlots slots_;
  adapters::FilePorts ports_{pool_, slots_, adapters::ExecSettings(), Log()};
};

// Texts of pods and definitions, which no terminal shall obey.
std::string shown(const json::Object& object, std::string_view key) {
  return excerpt(json::text_at(object, {key}), kWhole);
}

// JSON text has no control characters of its own but line ends.
std::string shown_json(const json::Value& value, int indent, std::string_view by) {
  std::string out;
  const std::string text = json::dump(value, {.indent = indent, .escape_html = false});
  for (const std::string_view line : split(text, '\n')) {
    out += cat(by, excerpt(line, kWhole), "\n");
  }
  return out;
}

std::string network_text(const json::Object& network) {
  std::vector<std::string> names;
  for (const json::Value& type : json::elements_of(network.find("types"))) {
    names.push_back(excerpt(json::text_of(&type), kWhole));
  }
  std::string out = cat(shown(network, "interface"), "  ", shown(network, "network"), "\n");
  out += cat("  from:           ", shown(network, "source"), "\n");
  out += cat("  plugins:        ", join(names, ", "), "\n");
  out += cat("  default routes: ", shown(network, "defaultRoutes"), "\n");
  if (network.find("isolation") != nullptr) {  // older daemons do not tell
    out += cat("  isolation:      ", shown(network, "isolation"), "\n");
  }
  if (const json::Value* batch = network.find("batch")) {
    out += cat("  batch:          ", json::dump(*batch), "\n");
  }
  const std::string resource = shown(network, "resource"), device = shown(network, "device");
  if (!device.empty() || !resource.empty()) {
    out += cat("  device:         ", device.empty() ? "none" : device,
               resource.empty() ? "" : " of resource ", resource, "\n");
  }
  const json::Object* args = json::as_object(network.find("capabilityArgs"));
  if (args != nullptr && !args->empty()) {
    out += shown_json(*args, 0, "  runtimeConfig:  ");
  }
  const json::Value* config = network.find("config");
  if (config != nullptr) out += cat("  configuration:\n", shown_json(*config, 2, "    "));
  return out;
}

}  // namespace

aio::Task<json::Object> explain(ExplainInput input) {
  Explanation explanation(std::move(input));
  co_return co_await explanation.run();
}

std::string explained_text(const json::Object& explained) {
  std::string out = cat("pod ", shown(explained, "pod"), "\n\n");
  for (const json::Object* network : json::objects_of(explained.find("networks"))) {
    out += cat(network_text(*network), "\n");
  }
  for (const json::Value& unknown : json::elements_of(explained.find("unknown"))) {
    out += cat("not known here: ", excerpt(json::text_of(&unknown), kWhole), "\n");
  }
  return out;
}

}  // namespace mnet::multusctl
