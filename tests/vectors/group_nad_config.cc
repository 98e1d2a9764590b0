#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "adapters/file_networks.h"
#include "aio/blocking_pool.h"
#include "aio/run.h"
#include "aio/task.h"
#include "attach/attach.h"
#include "attach/core.h"
#include "attach/fake_ports.h"
#include "attach/ports.h"
#include "attach/resolve.h"
#include "attach/source.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "confdir/confdir.h"
#include "groups.h"
#include "json/json.h"
#include "model/delegate.h"
#include "model/nad.h"
#include "model/requested_networks.h"

namespace mnet::vectors {
namespace {

Result<model::NetworkDefinition> definition_of(const json::Object& nad) {
  auto name = text_of(nad, "name");
  if (!name) return std::move(name).error();
  auto ns = text_of(nad, "namespace");
  if (!ns) return std::move(ns).error();
  auto config = text_of(nad, "spec_config");
  if (!config) return std::move(config).error();
  model::NetworkDefinition definition;
  definition.ns = *std::move(ns);
  definition.name = *std::move(name);
  definition.config = *std::move(config);
  return definition;
}

// A node with the case's definitions and its real files.
class Node {
 public:
  Result<void> lay_out(const json::Object& input) {
    auto nads = array_of(input, "nads");
    if (!nads) return std::move(nads).error();
    for (const json::Value& nad : *nads) {
      if (nad.as_object() == nullptr) return Error(Errc::kBug, "broken case: nads");
      auto definition = definition_of(*nad.as_object());
      if (!definition) return std::move(definition).error();
      fakes_.source.add_network(definition->ns, definition->name, *definition->config);
    }
    return {};
  }

  Result<attach::Job> job(json::Object netconf, const std::string& pod_namespace) {
    attach::Request request;
    request.container_id = "c1";
    request.netns = "/ns";
    request.ifname = "eth0";
    request.config = json::dump(std::move(netconf));
    request.pod = {.ns = pod_namespace, .name = "p1", .uid = "u1", .infra_container_id = "c1"};
    return attach::read_job(std::move(request), attach::Verb::kAdd, Log());
  }

  attach::Core core() {
    attach::Ports ports{.networks = networks_,
                        .plugins = fakes_.plugins,
                        .links = fakes_.links,
                        .routes = fakes_.routes,
                        .readiness = fakes_.readiness,
                        .records = fakes_.records,
                        .device_infos = fakes_.device_infos};
    ports.source = &fakes_.source;
    return {ports, Log(), {}};
  }

  template <typename T>
  Result<T> run(aio::Task<T> task) {
    return aio::run(loop_, std::move(task));
  }

 private:
  aio::asio::io_context loop_{1};
  aio::BlockingPool pool_{1};
  attach::FakeNode fakes_;
  adapters::FileNetworks networks_{pool_, Log()};
};

Result<std::string> configuration(const model::NetworkDefinition& nad, const std::string& dir) {
  if (model::has_configuration(nad)) return model::configuration_of(nad);
  auto loaded = confdir::load_by_name(dir, nad.name, Log());
  if (!loaded) return std::move(loaded).error();
  return std::visit([](const auto& conf) { return conf.bytes; }, *loaded);
}

Result<json::Object> nad(const json::Object& input) {
  auto nad = object_of(input, "nad");
  if (!nad) return std::move(nad).error();
  auto definition = definition_of(*nad);
  if (!definition) return std::move(definition).error();
  auto conf_dir = text_of(input, "conf_dir");
  if (!conf_dir) return std::move(conf_dir).error();
  auto text = configuration(*definition, *conf_dir);
  if (!text) return std::move(text).error();
  auto config = json::parse_object(*text);
  if (!config) return std::move(config).error();
  return json::Object{{"config", *std::move(config)}, {"config_text", *std::move(text)}};
}

Result<json::Object> cluster_network(const json::Object& input) {
  auto network = text_of(input, "network");
  if (!network) return std::move(network).error();
  auto ns = text_of(input, "multus_namespace");
  if (!ns) return std::move(ns).error();
  auto conf_dir = text_of(input, "conf_dir");
  if (!conf_dir) return std::move(conf_dir).error();
  Node node;
  if (auto laid_out = node.lay_out(input); !laid_out) return std::move(laid_out).error();
  auto job = node.job(
      json::Object{{"clusterNetwork", *network}, {"multusNamespace", *ns}, {"confDir", *conf_dir}},
      "test");
  if (!job) return std::move(job).error();
  const attach::Core core = node.core();
  attach::Resolver resolver(core, *job);
  auto master = node.run(resolver.master());
  if (!master) return std::move(master).error();
  auto config = json::parse_object(master->bytes);
  if (!config) return std::move(config).error();
  return json::Object{
      {"delegate", json::Object{{"name", master->name}, {"conflist", master->is_list}}},
      {"config", *std::move(config)}};
}

json::Value listed(const std::vector<model::Delegate>& delegates) {
  json::Array out;
  for (const model::Delegate& delegate : delegates) {
    out.emplace_back(json::Object{
        {"name", delegate.name}, {"type", delegate.types.front()}, {"master", delegate.is_master}});
  }
  return out;
}

Result<json::Object> resolve(const json::Object& input, model::PodObject pod) {
  auto netconf = object_of(input, "netconf");
  if (!netconf) return std::move(netconf).error();
  auto conf_dir = text_of(input, "conf_dir");
  if (!conf_dir) return std::move(conf_dir).error();
  netconf->set("confDir", *conf_dir);
  Node node;
  if (auto laid_out = node.lay_out(input); !laid_out) return std::move(laid_out).error();
  auto job = node.job(*std::move(netconf), pod.ns);
  if (!job) return std::move(job).error();
  const attach::Core core = node.core();
  attach::Resolver resolver(core, *job, std::make_shared<const model::PodObject>(std::move(pod)));
  auto resolved = node.run(resolver.resolve());
  if (!resolved) return std::move(resolved).error();
  return json::Object{{"delegates", listed(resolved->delegates)}};
}

Result<json::Object> default_networks(const json::Object& input) {
  auto ns = text_of(input, "pod_namespace");
  if (!ns) return std::move(ns).error();
  model::PodObject pod;
  pod.ns = *std::move(ns);
  pod.name = "p1";
  return resolve(input, std::move(pod));
}

Result<json::Object> pod_delegates(const json::Object& input) {
  auto given = object_of(input, "pod");
  if (!given) return std::move(given).error();
  auto ns = text_of(*given, "namespace");
  if (!ns) return std::move(ns).error();
  model::PodObject pod;
  pod.ns = *std::move(ns);
  pod.name = "p1";
  const auto annotate = [&](std::string_view member, std::string_view annotation) -> Result<void> {
    auto value = value_of(*given, member);
    if (!value) return std::move(value).error();
    if (value->as_string() != nullptr) {
      pod.annotations.emplace(annotation, *value->as_string());
    }
    return {};
  };
  if (auto read = annotate("networks", model::kNetworksAnnotation); !read) {
    return std::move(read).error();
  }
  if (auto read = annotate("default_network", model::kDefaultNetworkAnnotation); !read) {
    return std::move(read).error();
  }
  return resolve(input, std::move(pod));
}

}  // namespace

Group nad_config_group() {
  return {.name = "nad-config",
          .operations = {{"nad", nad},
                         {"cluster-network", cluster_network},
                         {"default-networks", default_networks},
                         {"pod-delegates", pod_delegates}}};
}

}  // namespace mnet::vectors
