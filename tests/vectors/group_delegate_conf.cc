#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/try.h"
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
  MNET_TRY(auto&& value, value_of(input, "selection"));
  if (value.is_null()) return std::optional<model::NetworkSelectionElement>();
  MNET_TRY(auto&& elements,
           model::parse_networks_annotation(json::dump(json::Array{std::move(value)}), "pod-ns"));
  return std::optional<model::NetworkSelectionElement>(std::move(elements.front()));
}

Result<json::Object> finish(model::Delegate delegate, const json::Object& input) {
  MNET_TRY(auto&& selection, selection_of(input));
  MNET_TRY(auto&& resource_name, text_of(input, "resource_name"));
  MNET_TRY(auto&& device_id, text_of(input, "device_id"));
  MNET_TRY(auto&& done, model::fulfil(std::move(delegate), selection,
                                      {.resource_name = resource_name, .id = device_id}));
  MNET_TRY(auto&& config, json::parse_object(done.bytes));
  return json::Object{
      {"config", std::move(config)}, {"config_text", done.bytes}, {"delegate", selection_of(done)}};
}

Result<json::Object> load(const json::Object& input) {
  MNET_TRY(auto&& config, text_of(input, "config"));
  MNET_TRY(auto&& delegate, model::parse_delegate(std::move(config)));
  return finish(std::move(delegate), input);
}

Result<json::Object> load_conflist(const json::Object& input) {
  MNET_TRY(auto&& config, text_of(input, "config"));
  MNET_TRY(auto&& extra, array_of(input, "extra_plugins"));
  MNET_TRY(auto&& list, cni::parse_conflist(config));
  std::vector<cni::PluginConf> plugins;
  for (const json::Value& value : extra) {
    MNET_TRY(auto&& plugin, cni::parse_conf(json::dump(value)));
    plugins.push_back(std::move(plugin));
  }
  MNET_TRY(auto&& whole, cni::with_plugins(list, plugins));
  return finish(model::delegate_of(std::move(whole)), input);
}

Result<json::Object> inject_cni_version(const json::Object& input) {
  MNET_TRY(auto&& config, text_of(input, "config"));
  MNET_TRY(auto&& version, text_of(input, "cni_version"));
  MNET_TRY(auto&& changed, model::with_cni_version(config, version));
  MNET_TRY(auto&& object, json::parse_object(changed));
  return json::Object{{"config", std::move(object)}};
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
  MNET_TRY(auto&& routes, array_of(input, "default_routes"));
  MNET_TRY(auto&& delegates, with_routes(routes));
  MNET_TRY([[maybe_unused]] const auto& plan, model::plan_default_routes(delegates));
  json::Array filters;
  for (const model::Delegate& delegate : delegates) {
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
