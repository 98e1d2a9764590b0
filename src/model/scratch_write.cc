#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cni/conf.h"
#include "json/json.h"
#include "model/delegate.h"
#include "model/scratch.h"
#include "model/selection_element.h"

namespace mnet::model {
namespace {

bool is_empty(const json::Value& value) {
  if (const std::string* text = value.as_string()) return text->empty();
  if (const json::Object* object = value.as_object()) return object->empty();
  if (const json::Array* array = value.as_array()) return array->empty();
  return value.is_null();
}

// The original writes these members from a map: by key, at every level.
json::Value sorted(const json::Value& value) {
  if (value.as_object() == nullptr && value.as_array() == nullptr) return value;
  return json::parse(json::dump(value, json::kSorted)).value();
}

// `ipam` of a reduced configuration: only its type.
json::Object reduced_ipam(const json::Object& config) {
  json::Object reduced;
  const json::Value* ipam = config.find_folded("ipam");
  const json::Object* object = ipam == nullptr ? nullptr : ipam->as_object();
  const json::Value* type = object == nullptr ? nullptr : object->find_folded("type");
  if (type != nullptr && !is_empty(*type)) reduced.append("type", *type);
  return reduced;
}

// The members that the original decodes of a plugin's configuration, by key.
json::Object reduced(const json::Object& config) {
  constexpr std::array<std::string_view, 8> kMembers = {"capabilities", "cni.dev/valid-attachments",
                                                        "cniVersion",   "dns",
                                                        "ipam",         "name",
                                                        "prevResult",   "type"};
  json::Object out;
  for (const std::string_view key : kMembers) {
    if (key == "ipam") {
      out.append("ipam", reduced_ipam(config));
      continue;
    }
    const json::Value* value = config.find_folded(key);
    if (value != nullptr && !is_empty(*value)) out.append(std::string(key), sorted(*value));
  }
  return out;
}

json::Object reduced_list(const cni::ConfList& list) {
  json::Object out;
  if (!list.version.empty()) out.append("cniVersion", list.version);
  if (!list.name.empty()) out.append("name", list.name);
  if (list.disable_check) out.append("disableCheck", true);
  if (list.disable_gc) out.append("disableGC", true);
  json::Array plugins;
  for (const cni::PluginConf& plugin : list.plugins) plugins.emplace_back(reduced(plugin.object));
  out.append("plugins", std::move(plugins));
  return out;
}

void append_configuration(json::Object& element, const Delegate& delegate) {
  const cni::ConfList* list = delegate.list ? &*delegate.list : nullptr;
  if (list == nullptr || (delegate.is_list && delegate.from_list_file)) {
    element.append("Conf", reduced({}));
  } else {
    element.append("Conf", reduced(delegate.is_list ? list->object : list->plugins[0].object));
  }
  element.append("ConfList",
                 list != nullptr && delegate.is_list ? reduced_list(*list) : json::Object());
}

void append_text(json::Object& element, std::string_view key, const std::string& text) {
  if (!text.empty()) element.append(std::string(key), text);
}

}  // namespace

json::Object encode_scratch(const Delegate& delegate) {
  const NetworkSelectionElement& selection = delegate.selection;
  json::Object element;
  append_configuration(element, delegate);
  element.append("Name", delegate.name);
  append_text(element, "ifnameRequest", selection.ifname);
  append_text(element, "macRequest", selection.mac);
  append_text(element, "infinibandGUIDRequest", selection.infiniband_guid);
  if (selection.ips) element.append("ipRequest", *selection.ips);
  if (selection.gateways) element.append("default-route", *selection.gateways);
  element.append("IsFilterV4Gateway", delegate.loses_v4_default);
  element.append("IsFilterV6Gateway", delegate.loses_v6_default);
  append_text(element, "deviceID", selection.device_id);
  append_text(element, "resourceName", selection.resource_name);
  element.append("Bytes", to_base64(delegate.bytes));
  if (selection.port_mappings) {
    element.append("portMappingsRequest", to_json(*selection.port_mappings));
  }
  if (selection.bandwidth) element.append("bandwidthRequest", to_json(*selection.bandwidth));
  if (delegate.removed) element.append("removed", true);
  return element;
}

json::Array encode_scratch(const std::vector<Delegate>& delegates) {
  json::Array elements;
  for (const Delegate& delegate : delegates) elements.emplace_back(encode_scratch(delegate));
  return elements;
}

}  // namespace mnet::model
