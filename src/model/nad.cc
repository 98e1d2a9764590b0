#include "model/nad.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "json/fields.h"
#include "json/json.h"
#include "model/delegate.h"
#include "model/inject.h"
#include "model/objects.h"
#include "model/selection_element.h"

namespace mnet::model {
namespace {

// Only the exact key counts (02, J1). One of another type is left for the delegate's own checks.
bool lacks_name(const json::Object& config) {
  const json::Value* name = config.find("name");
  if (name == nullptr || name->is_null()) return true;
  return name->as_string() != nullptr && name->as_string()->empty();
}

void append_text(json::Object& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object.append(std::string(key), text);
}

}  // namespace

bool has_configuration(const NetworkDefinition& definition) {
  return definition.config && !definition.config->empty();
}

Result<std::string> configuration_of(const NetworkDefinition& definition) {
  const std::string& text = *definition.config;
  constexpr std::string_view kFault = "failed to unmarshal Spec.Config";
  auto document = json::parse_unambiguous(text);
  if (!document) return std::move(document).error().wrap(kFault);
  json::Object* config = document->as_object();
  if (config == nullptr) return json::wrong_kind(kFault, "an object", *document);
  if (!lacks_name(*config)) return text;
  config->set_folded("name", definition.name);
  return json::dump(*document);
}

Result<Delegate> fulfil(Delegate delegate, std::optional<NetworkSelectionElement> selection,
                        const TakenDevice& device) {
  Injection injection;
  if (selection) {
    if (!selection->name.empty()) delegate.name = cat(selection->ns, "/", selection->name);
    delegate.attributes = attributes_of(*selection);
    injection.cni_args = std::exchange(selection->cni_args, std::nullopt);
    delegate.selection = *std::move(selection);
  }
  if (!device.id.empty()) {
    delegate.selection.device_id = injection.device_id = device.id;
    delegate.selection.resource_name = device.resource_name;
  }
  return with_injection(std::move(delegate), injection);
}

json::Object attributes_of(const NetworkSelectionElement& selection) {
  json::Object attributes;
  if (selection.ips) attributes.append("ips", *selection.ips);
  append_text(attributes, "mac", selection.mac);
  append_text(attributes, "infiniband-guid", selection.infiniband_guid);
  if (selection.bandwidth) attributes.append("bandwidth", to_json(*selection.bandwidth));
  if (selection.port_mappings) attributes.append("portMappings", to_json(*selection.port_mappings));
  if (selection.cni_args) attributes.append("cni-args", *selection.cni_args);
  append_text(attributes, "deviceID", selection.device_id);
  if (selection.gateways) attributes.append("default-route", *selection.gateways);
  return attributes;
}

}  // namespace mnet::model
