#include "model/scratch.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/conf.h"
#include "json/at.h"
#include "json/fields.h"
#include "json/json.h"
#include "model/delegate.h"
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
  return json::parse(json::dump(value, json::kSorted)).value_or(value);
}

// `ipam` of a reduced configuration: only its type.
json::Object reduced_ipam(const json::Object& config) {
  json::Object reduced;
  const json::Object* object = json::as_object(config.find_folded("ipam"));
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
    element.append("Conf", reduced(decoded_config(delegate)));
  }
  element.append("ConfList",
                 list != nullptr && delegate.is_list ? reduced_list(*list) : json::Object());
}

void append_text(json::Object& element, std::string_view key, const std::string& text) {
  if (!text.empty()) element.append(std::string(key), text);
}

Error damaged(std::size_t index, std::string_view why) {
  return Error(Errc::kProtocol, cat("scratch element ", index, ": ", why));
}

// Text of a member that holds base64; none if there is no such thing.
std::optional<std::string> decoded_member(const json::Object& object, std::string_view key) {
  const std::string* text = json::as_string(object.find_folded(key));
  std::string bytes;
  if (text == nullptr || text->empty() || !from_base64(*text, bytes)) return std::nullopt;
  return bytes;
}

// What 4.2.x and v4.3.0 kept of a list from a file beside its stripped `Bytes`: the list's own text
// and each plugin's. None if there are no plugins in it.
Result<std::optional<std::string>> complete_list(const json::Object& element) {
  const json::Object* kept = json::as_object(element.find_folded("CNINetworkConfigList"));
  const json::Array* entries =
      kept == nullptr ? nullptr : json::as_array(kept->find_folded("Plugins"));
  if (entries == nullptr || entries->empty()) return std::optional<std::string>();

  const auto bytes = decoded_member(*kept, "Bytes");
  auto list = bytes ? json::parse_object(*bytes) : Result<json::Object>();
  if (!list) return Error(Errc::kProtocol, "CNINetworkConfigList has no usable Bytes");
  json::Array complete;
  for (const json::Value& entry : *entries) {
    const json::Object* object = entry.as_object();
    const auto text = object == nullptr ? std::nullopt : decoded_member(*object, "Bytes");
    auto plugin = text ? json::parse_object(*text) : Result<json::Object>();
    if (!plugin)
      return Error(Errc::kProtocol, "a plugin of CNINetworkConfigList has no usable Bytes");
    complete.emplace_back(*std::move(plugin));
  }
  list->set("plugins", std::move(complete));
  return std::optional<std::string>(json::dump(*std::move(list)));
}

void read_texts(const json::Object& element, std::string_view key,
                std::optional<std::vector<std::string>>& out) {
  json::Fields fields(element);
  std::vector<std::string> texts;
  fields.read(key, texts);
  if (fields.find(key) != nullptr && fields.done()) out = std::move(texts);
}

void read_text(const json::Object& element, std::string_view key, std::string& out) {
  json::Fields(element).read(key, out);
}

NetworkSelectionElement read_selection(const json::Object& element) {
  NetworkSelectionElement selection;
  read_text(element, "ifnameRequest", selection.ifname);
  read_text(element, "macRequest", selection.mac);
  read_text(element, "infinibandGUIDRequest", selection.infiniband_guid);
  read_texts(element, "ipRequest", selection.ips);
  read_texts(element, "default-route", selection.gateways);
  read_text(element, "deviceID", selection.device_id);
  read_text(element, "resourceName", selection.resource_name);
  json::Fields fields(element);
  if (auto mappings = find_port_mappings(fields, "portMappingsRequest")) {
    selection.port_mappings = *std::move(mappings);
  }
  if (auto bandwidth = find_bandwidth(fields, "bandwidthRequest")) selection.bandwidth = *bandwidth;
  return selection;
}

Result<Delegate> decode(json::Object& element) {
  MNET_TRY(auto&& complete, complete_list(element));
  std::optional<std::string> bytes = std::move(complete);
  const bool from_list_file = bytes.has_value();
  if (!bytes) bytes = decoded_member(element, "Bytes");
  if (!bytes) return Error(Errc::kProtocol, "no usable Bytes");
  element.erase_folded("Bytes");  // it may have a megabyte, and so has what is made of it
  auto delegate = parse_delegate(*std::move(bytes));
  if (!delegate) return Error(Errc::kProtocol, delegate.error().text());

  delegate->from_list_file = from_list_file;
  read_text(element, "Name", delegate->name);
  delegate->selection = read_selection(element);
  json::Fields(element).read("IsFilterV4Gateway", delegate->loses_v4_default);
  json::Fields(element).read("IsFilterV6Gateway", delegate->loses_v6_default);
  json::Fields(element).read("removed", delegate->removed);
  return delegate;
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

Result<std::vector<Delegate>> decode_scratch(json::Array elements) {
  if (elements.empty()) return Error(Errc::kProtocol, "the scratch file has no elements");
  std::vector<Delegate> delegates;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    json::Object* element = elements[i].as_object();
    if (element == nullptr) return damaged(i, "not an object");
    auto delegate = decode(*element);
    if (!delegate) return damaged(i, delegate.error().text());
    delegate->is_master = i == 0;
    delegates.push_back(*std::move(delegate));
  }
  return delegates;
}

}  // namespace mnet::model
