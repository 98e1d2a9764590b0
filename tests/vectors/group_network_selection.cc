#include <string>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "groups.h"
#include "json/json.h"
#include "model/selection.h"
#include "model/wishes.h"

namespace mnet::vectors {
namespace {

void append_wishes(json::Object& out, const model::Wishes& wishes) {
  if (wishes.ips) out.append("ips", *wishes.ips);
  if (!wishes.mac.empty()) out.append("mac", wishes.mac);
  if (!wishes.infiniband_guid.empty()) out.append("infiniband-guid", wishes.infiniband_guid);
  if (!wishes.ifname.empty()) out.append("interface", wishes.ifname);
  if (wishes.port_mappings) out.append("portMappings", model::to_json(*wishes.port_mappings));
  if (wishes.bandwidth) out.append("bandwidth", model::to_json(*wishes.bandwidth));
  if (!wishes.device_id.empty()) out.append("deviceID", wishes.device_id);
  if (wishes.gateways) out.append("default-route", *wishes.gateways);
}

json::Value element(const model::Selection& selection) {
  json::Object out{{"name", selection.name}, {"namespace", selection.ns}};
  append_wishes(out, selection.wishes);
  if (selection.cni_args) out.append("cni-args", *selection.cni_args);
  return out;
}

Result<json::Object> parse_networks(const json::Object& input) {
  auto annotation = value_of(input, "annotation");
  if (!annotation) return std::move(annotation).error();
  auto ns = text_of(input, "namespace");
  if (!ns) return std::move(ns).error();
  // A pod without the annotation gets no further networks; the original's parser calls that an
  // error of its own kind.
  if (annotation->is_null()) return Error(Errc::kNotFound, "no kubernetes network found");
  auto selections = model::parse_networks_annotation(*annotation->as_string(), *ns);
  if (!selections) return std::move(selections).error();
  json::Array elements;
  for (const model::Selection& selection : *selections) elements.push_back(element(selection));
  return json::Object{{"elements", std::move(elements)}};
}

Result<json::Object> parse_default_network(const json::Object& input) {
  auto annotation = value_of(input, "annotation");
  if (!annotation) return std::move(annotation).error();
  auto ns = text_of(input, "namespace");
  if (!ns) return std::move(ns).error();
  if (annotation->is_null()) return json::Object{{"none", true}};
  auto selection = model::parse_default_network_annotation(*annotation->as_string(), *ns);
  if (!selection) return std::move(selection).error();
  return json::Object{{"elements", json::Array{element(*selection)}}};
}

}  // namespace

Group network_selection_group() {
  return {.name = "network-selection",
          .selector = "kind",
          .operations = {{"networks", parse_networks}, {"default-network", parse_default_network}}};
}

}  // namespace mnet::vectors
