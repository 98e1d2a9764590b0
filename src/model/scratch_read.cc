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
#include "json/fields.h"
#include "json/json.h"
#include "model/delegate.h"
#include "model/scratch.h"
#include "model/selection_element.h"

namespace mnet::model {
namespace {

Error damaged(std::size_t index, std::string_view why) {
  return Error(Errc::kProtocol, cat("scratch element ", index, ": ", why));
}

// Text of a member that holds base64; none if there is no such thing.
std::optional<std::string> decoded_member(const json::Object& object, std::string_view key) {
  const json::Value* value = object.find_folded(key);
  const std::string* text = value == nullptr ? nullptr : value->as_string();
  std::string bytes;
  if (text == nullptr || text->empty() || !from_base64(*text, bytes)) return std::nullopt;
  return bytes;
}

// What 4.2.x and v4.3.0 kept of a list from a file beside its stripped `Bytes`: the list's own text
// and each plugin's. None if there are no plugins in it.
Result<std::optional<std::string>> complete_list(const json::Object& element) {
  const json::Value* member = element.find_folded("CNINetworkConfigList");
  const json::Object* kept = member == nullptr ? nullptr : member->as_object();
  const json::Value* plugins = kept == nullptr ? nullptr : kept->find_folded("Plugins");
  const json::Array* entries = plugins == nullptr ? nullptr : plugins->as_array();
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
  if (const json::Value* value = fields.find("portMappingsRequest")) {
    if (auto mappings = read_port_mappings(*value, {}))
      selection.port_mappings = *std::move(mappings);
  }
  if (const json::Value* value = fields.find("bandwidthRequest")) {
    if (auto bandwidth = read_bandwidth(*value, {})) selection.bandwidth = *bandwidth;
  }
  return selection;
}

Result<Delegate> decode(const json::Object& element) {
  MNET_TRY(auto&& complete, complete_list(element));
  std::optional<std::string> bytes = std::move(complete);
  const bool from_list_file = bytes.has_value();
  if (!bytes) bytes = decoded_member(element, "Bytes");
  if (!bytes) return Error(Errc::kProtocol, "no usable Bytes");
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

Result<std::vector<Delegate>> decode_scratch(const json::Array& elements) {
  if (elements.empty()) return Error(Errc::kProtocol, "the scratch file has no elements");
  std::vector<Delegate> delegates;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const json::Object* element = elements[i].as_object();
    if (element == nullptr) return damaged(i, "not an object");
    auto delegate = decode(*element);
    if (!delegate) return damaged(i, delegate.error().text());
    delegate->is_master = i == 0;
    delegates.push_back(*std::move(delegate));
  }
  return delegates;
}

}  // namespace mnet::model
