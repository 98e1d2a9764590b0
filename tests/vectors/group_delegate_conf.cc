#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "cni/conf.h"
#include "groups.h"
#include "json/json.h"
#include "model/default_routes.h"
#include "model/delegate.h"
#include "model/nad.h"
#include "model/networks_annotation.h"
#include "model/selection_element.h"

namespace mnet::vectors {
namespace {

template <typename T>
json::Value or_null(const std::optional<T>& value) {
  return value ? json::Value(model::to_json(*value)) : json::Value();
}

json::Value texts_or_null(const std::optional<std::vector<std::string>>& texts) {
  return texts ? json::Value(*texts) : json::Value();
}

json::Object selection_of(const model::Delegate& delegate) {
  const model::NetworkSelectionElement& selection = delegate.selection;
  return {{"name", delegate.name},
          {"conflist", delegate.is_list},
          {"device_id", selection.device_id},
          {"resource_name", selection.resource_name},
          {"ifname_request", selection.ifname},
          {"mac_request", selection.mac},
          {"guid_request", selection.infiniband_guid},
          {"ip_request", texts_or_null(selection.ips)},
          {"bandwidth_request", or_null(selection.bandwidth)},
          {"port_mappings_request", or_null(selection.port_mappings)},
          {"gateway_request", texts_or_null(selection.gateways)}};
}

// Read as the one element of an annotation.
Result<std::optional<model::NetworkSelectionElement>> selection_of(const json::Object& input) {
  auto value = value_of(input, "selection");
  if (!value) return std::move(value).error();
  if (value->is_null()) return std::optional<model::NetworkSelectionElement>();
  auto elements =
      model::parse_networks_annotation(json::dump(json::Array{*std::move(value)}), "pod-ns");
  if (!elements) return std::move(elements).error();
  return std::optional<model::NetworkSelectionElement>(std::move(elements->front()));
}

Result<json::Object> finish(model::Delegate delegate, const json::Object& input) {
  auto selection = selection_of(input);
  if (!selection) return std::move(selection).error();
  auto resource_name = text_of(input, "resource_name");
  if (!resource_name) return std::move(resource_name).error();
  auto device_id = text_of(input, "device_id");
  if (!device_id) return std::move(device_id).error();
  auto done = model::fulfil(std::move(delegate), *selection,
                            {.resource_name = *resource_name, .id = *device_id});
  if (!done) return std::move(done).error();
  auto config = json::parse_object(done->bytes);
  if (!config) return std::move(config).error();
  return json::Object{{"config", *std::move(config)},
                      {"config_text", done->bytes},
                      {"delegate", selection_of(*done)}};
}

Result<json::Object> load(const json::Object& input) {
  auto config = text_of(input, "config");
  if (!config) return std::move(config).error();
  auto delegate = model::parse_delegate(*std::move(config));
  if (!delegate) return std::move(delegate).error();
  return finish(*std::move(delegate), input);
}

Result<json::Object> load_conflist(const json::Object& input) {
  auto config = text_of(input, "config");
  if (!config) return std::move(config).error();
  auto extra = array_of(input, "extra_plugins");
  if (!extra) return std::move(extra).error();
  auto list = cni::parse_conflist(*config);
  if (!list) return std::move(list).error();
  std::vector<cni::PluginConf> plugins;
  for (const json::Value& value : *extra) {
    auto plugin = cni::parse_conf(json::dump(value));
    if (!plugin) return std::move(plugin).error();
    plugins.push_back(*std::move(plugin));
  }
  auto whole = cni::with_plugins(*list, plugins);
  if (!whole) return std::move(whole).error();
  return finish(model::delegate_of(*std::move(whole)), input);
}

Result<json::Object> inject_cni_version(const json::Object& input) {
  auto config = text_of(input, "config");
  if (!config) return std::move(config).error();
  auto version = text_of(input, "cni_version");
  if (!version) return std::move(version).error();
  auto changed = model::with_cni_version(*config, *version);
  if (!changed) return std::move(changed).error();
  auto object = json::parse_object(*changed);
  if (!object) return std::move(object).error();
  return json::Object{{"config", *std::move(object)}};
}

Result<std::vector<model::Delegate>> with_routes(const json::Array& default_routes) {
  std::vector<model::Delegate> delegates;
  for (const json::Value& value : default_routes) {
    model::Delegate& delegate = delegates.emplace_back();
    if (value.is_null()) continue;
    if (value.as_array() == nullptr) return Error(Errc::kBug, "broken case: default_routes");
    delegate.selection.gateways.emplace();
    for (const json::Value& gateway : *value.as_array()) {
      delegate.selection.gateways->push_back(*gateway.as_string());
    }
  }
  return delegates;
}

Result<json::Object> gateway_filter(const json::Object& input) {
  auto routes = array_of(input, "default_routes");
  if (!routes) return std::move(routes).error();
  auto delegates = with_routes(*routes);
  if (!delegates) return std::move(delegates).error();
  auto plan = model::plan_default_routes(*delegates);
  if (!plan) return std::move(plan).error();
  json::Array filters;
  for (const model::Delegate& delegate : *delegates) {
    filters.emplace_back(
        json::Object{{"v4", delegate.loses_v4_default}, {"v6", delegate.loses_v6_default}});
  }
  return json::Object{{"filters", std::move(filters)}};
}

}  // namespace

Group delegate_conf_group() {
  return {.name = "delegate-conf",
          .operations = {{"load", load},
                         {"load-conflist", load_conflist},
                         {"inject-cni-version", inject_cni_version},
                         {"gateway-filter", gateway_filter}}};
}

}  // namespace mnet::vectors
