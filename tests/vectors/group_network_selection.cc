#include <string>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/try.h"
#include "groups.h"
#include "json/json.h"
#include "model/networks_annotation.h"
#include "model/selection_element.h"

namespace mnet::vectors {
namespace {

void append_selection(json::Object& out, const model::NetworkSelectionElement& selection) {
  if (selection.ips) out.append("ips", *selection.ips);
  if (!selection.mac.empty()) out.append("mac", selection.mac);
  if (!selection.infiniband_guid.empty()) out.append("infiniband-guid", selection.infiniband_guid);
  if (!selection.ifname.empty()) out.append("interface", selection.ifname);
  if (selection.port_mappings) out.append("portMappings", model::to_json(*selection.port_mappings));
  if (selection.bandwidth) out.append("bandwidth", model::to_json(*selection.bandwidth));
  if (!selection.device_id.empty()) out.append("deviceID", selection.device_id);
  if (selection.gateways) out.append("default-route", *selection.gateways);
}

json::Value element(const model::NetworkSelectionElement& selection) {
  json::Object out{{"name", selection.name}, {"namespace", selection.ns}};
  append_selection(out, selection);
  if (selection.cni_args) out.append("cni-args", *selection.cni_args);
  return out;
}

Result<json::Object> parse_networks(const json::Object& input) {
  MNET_TRY(auto&& annotation, value_of(input, "annotation"));
  MNET_TRY(auto&& ns, text_of(input, "namespace"));
  // A pod without the annotation gets no further networks; the original's parser calls that an
  // error of its own kind.
  if (annotation.is_null()) return Error(Errc::kNotFound, "no kubernetes network found");
  MNET_TRY(auto&& selections, model::parse_networks_annotation(*annotation.as_string(), ns));
  json::Array elements;
  for (const model::NetworkSelectionElement& selection : selections)
    elements.push_back(element(selection));
  return json::Object{{"elements", std::move(elements)}};
}

Result<json::Object> parse_default_network(const json::Object& input) {
  MNET_TRY(auto&& annotation, value_of(input, "annotation"));
  MNET_TRY(auto&& ns, text_of(input, "namespace"));
  if (annotation.is_null()) return json::Object{{"none", true}};
  MNET_TRY(auto&& selection, model::parse_default_network_annotation(*annotation.as_string(), ns));
  return json::Object{{"elements", json::Array{element(selection)}}};
}

}  // namespace

Group network_selection_group() {
  return {.name = "network-selection",
          .selector = "kind",
          .operations = {{"networks", parse_networks}, {"default-network", parse_default_network}}};
}

}  // namespace mnet::vectors
