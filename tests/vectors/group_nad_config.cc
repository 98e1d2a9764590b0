#include <boost/asio/io_context.hpp>
#include <memory>
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
#include "attach/request.h"
#include "attach/request_text.h"
#include "attach/resolve.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/try.h"
#include "confdir/confdir.h"
#include "groups.h"
#include "json/json.h"
#include "model/delegate.h"
#include "model/nad.h"
#include "model/objects.h"
#include "model/requested_networks.h"

namespace mnet::vectors {
namespace {

Result<model::NetworkDefinition> definition_of(const json::Object& nad) {
  MNET_TRY(auto&& name, text_of(nad, "name"));
  MNET_TRY(auto&& ns, text_of(nad, "namespace"));
  MNET_TRY(auto&& config, text_of(nad, "spec_config"));
  model::NetworkDefinition definition;
  definition.ns = std::move(ns);
  definition.name = std::move(name);
  definition.config = std::move(config);
  return definition;
}

// A node with the case's definitions and its real files.
class Node {
 public:
  Result<void> lay_out(const json::Object& input) {
    MNET_TRY(auto&& nads, array_of(input, "nads"));
    for (const json::Value& nad : nads) {
      if (nad.as_object() == nullptr) return Error(Errc::kBug, "broken case: nads");
      MNET_TRY(auto&& definition, definition_of(*nad.as_object()));
      fakes_.source.add_network(definition.ns, definition.name, *definition.config);
    }
    return {};
  }

  Result<attach::Job> job(const json::Object& netconf, const std::string& pod_namespace) {
    attach::RequestText text;
    text.config = json::dump(netconf);
    text.pod = {.ns = pod_namespace, .name = "p1", .uid = "u1", .infra_container_id = "c1"};
    MNET_TRY(auto&& request, attach::read_text(attach::Verb::kAdd, text, Log()));
    return attach::Job(std::move(request), attach::Verb::kAdd);
  }

  attach::Core core() {
    attach::Ports ports{.networks = networks_,
                        .plugins = fakes_.plugins,
                        .links = fakes_.links,
                        .routes = fakes_.routes,
                        .readiness = fakes_.readiness,
                        .records = fakes_.records,
                        .results = fakes_.records,
                        .device_infos = fakes_.device_infos};
    ports.source = &fakes_.source;
    return {ports, {}};
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
  MNET_TRY(auto&& loaded, confdir::load_by_name(dir, nad.name, Log()));
  return std::visit([](const auto& conf) { return conf.bytes; }, loaded);
}

Result<json::Object> nad(const json::Object& input) {
  MNET_TRY(auto&& nad, object_of(input, "nad"));
  MNET_TRY(auto&& definition, definition_of(nad));
  MNET_TRY(auto&& conf_dir, text_of(input, "conf_dir"));
  MNET_TRY(auto&& text, configuration(definition, conf_dir));
  MNET_TRY(auto&& config, json::parse_object(text));
  return json::Object{{"config", std::move(config)}, {"config_text", std::move(text)}};
}

Result<json::Object> cluster_network(const json::Object& input) {
  MNET_TRY(auto&& network, text_of(input, "network"));
  MNET_TRY(auto&& ns, text_of(input, "multus_namespace"));
  MNET_TRY(auto&& conf_dir, text_of(input, "conf_dir"));
  Node node;
  MNET_TRY_VOID(node.lay_out(input));
  MNET_TRY(auto&& job, node.job(json::Object{{"clusterNetwork", network},
                                             {"multusNamespace", ns},
                                             {"confDir", conf_dir}},
                                "test"));
  const attach::Core core = node.core();
  attach::Resolver resolver(core, job);
  MNET_TRY(auto&& master, node.run(resolver.master()));
  MNET_TRY(auto&& config, json::parse_object(master.bytes));
  return json::Object{
      {"delegate", json::Object{{"name", master.name}, {"conflist", master.is_list}}},
      {"config", std::move(config)}};
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
  MNET_TRY(auto&& netconf, object_of(input, "netconf"));
  MNET_TRY(auto&& conf_dir, text_of(input, "conf_dir"));
  netconf.set("confDir", conf_dir);
  Node node;
  MNET_TRY_VOID(node.lay_out(input));
  MNET_TRY(auto&& job, node.job(std::move(netconf), pod.ns));
  const attach::Core core = node.core();
  attach::Resolver resolver(core, job, std::make_shared<const model::PodObject>(std::move(pod)));
  MNET_TRY(auto&& resolved, node.run(resolver.resolve()));
  return json::Object{{"delegates", listed(resolved.delegates)}};
}

Result<json::Object> default_networks(const json::Object& input) {
  MNET_TRY(auto&& ns, text_of(input, "pod_namespace"));
  model::PodObject pod;
  pod.ns = std::move(ns);
  pod.name = "p1";
  return resolve(input, std::move(pod));
}

Result<json::Object> pod_delegates(const json::Object& input) {
  MNET_TRY(auto&& given, object_of(input, "pod"));
  MNET_TRY(auto&& ns, text_of(given, "namespace"));
  model::PodObject pod;
  pod.ns = std::move(ns);
  pod.name = "p1";
  const auto annotate = [&](std::string_view member, std::string_view annotation) -> Result<void> {
    MNET_TRY(auto&& value, value_of(given, member));
    if (value.as_string() != nullptr) {
      pod.annotations.emplace(annotation, *value.as_string());
    }
    return {};
  };
  MNET_TRY_VOID(annotate("networks", model::kNetworksAnnotation));
  MNET_TRY_VOID(annotate("default_network", model::kDefaultNetworkAnnotation));
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
