#include "model/selection_element.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/fields.h"
#include "json/json.h"

namespace mnet::model {
namespace {

Result<PortMapping> read_port_mapping(const json::Value& value, std::string path) {
  const json::Object* object = value.as_object();
  if (object == nullptr) return json::wrong_kind(path, "an object", value);
  PortMapping mapping;
  json::Fields fields(*object, std::move(path));
  fields.read("hostPort", mapping.host_port);
  fields.read("containerPort", mapping.container_port);
  fields.read("protocol", mapping.protocol);
  fields.read("hostIP", mapping.host_ip);
  MNET_TRY_VOID(fields.done());
  return mapping;
}

Result<Bandwidth> read_bandwidth(const json::Value& value, std::string path) {
  const json::Object* object = value.as_object();
  if (object == nullptr) return json::wrong_kind(path, "an object", value);
  Bandwidth bandwidth;
  json::Fields fields(*object, std::move(path));
  fields.read("ingressRate", bandwidth.ingress_rate);
  fields.read("ingressBurst", bandwidth.ingress_burst);
  fields.read("egressRate", bandwidth.egress_rate);
  fields.read("egressBurst", bandwidth.egress_burst);
  MNET_TRY_VOID(fields.done());
  return bandwidth;
}

}  // namespace

Result<std::optional<std::vector<PortMapping>>> find_port_mappings(const json::Fields& fields,
                                                                   std::string_view key) {
  const json::Value* value = fields.find(key);
  if (value == nullptr) return std::nullopt;
  const std::string path = fields.path_of(key);
  const json::Array* items = value->as_array();
  if (items == nullptr) return json::wrong_kind(path, "a list", *value);
  std::vector<PortMapping> mappings;
  for (std::size_t i = 0; i < items->size(); ++i) {
    MNET_TRY(auto&& mapping, read_port_mapping((*items)[i], cat(path, "[", i, "]")));
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

Result<std::optional<Bandwidth>> find_bandwidth(const json::Fields& fields, std::string_view key) {
  const json::Value* value = fields.find(key);
  if (value == nullptr) return std::nullopt;
  MNET_TRY(const Bandwidth& bandwidth, read_bandwidth(*value, fields.path_of(key)));
  return bandwidth;
}

json::Array to_json(const std::vector<PortMapping>& mappings) {
  json::Array items;
  for (const PortMapping& mapping : mappings) {
    json::Object item{{"hostPort", mapping.host_port}, {"containerPort", mapping.container_port}};
    if (!mapping.protocol.empty()) item.append("protocol", mapping.protocol);
    if (!mapping.host_ip.empty()) item.append("hostIP", mapping.host_ip);
    items.emplace_back(std::move(item));
  }
  return items;
}

json::Object to_json(const Bandwidth& bandwidth) {
  return {{"ingressRate", bandwidth.ingress_rate},
          {"ingressBurst", bandwidth.ingress_burst},
          {"egressRate", bandwidth.egress_rate},
          {"egressBurst", bandwidth.egress_burst}};
}

}  // namespace mnet::model
