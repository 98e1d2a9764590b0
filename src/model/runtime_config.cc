#include "model/runtime_config.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/fields.h"
#include "json/json.h"
#include "model/selection_element.h"

namespace mnet::model {
namespace {

constexpr std::array<std::string_view, 7> kKnown = {
    "portMappings", "bandwidth", "ips", "mac", "deviceID", "infinibandGUID", "CNIDeviceInfoFile"};

bool is_known(std::string_view key) {
  return std::ranges::any_of(kKnown,
                             [&](std::string_view name) { return equal_ignoring_case(name, key); });
}

void append_text(json::Object& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object.append(std::string(key), text);
}

}  // namespace

Result<RuntimeConfig> read_runtime_config(const json::Object& object, std::string path) {
  RuntimeConfig config;
  json::Fields fields(object, std::move(path));
  MNET_TRY(auto&& mappings, find_port_mappings(fields, "portMappings"));
  if (mappings) config.port_mappings = *std::move(mappings);
  MNET_TRY(const auto& bandwidth, find_bandwidth(fields, "bandwidth"));
  config.bandwidth = bandwidth;
  fields.read("ips", config.ips);
  fields.read("mac", config.mac);
  fields.read("infinibandGUID", config.infiniband_guid);
  fields.read("deviceID", config.device_id);
  fields.read("CNIDeviceInfoFile", config.cni_device_info_file);
  MNET_TRY_VOID(fields.done());
  for (const auto& [key, value] : object) {
    if (!is_known(key)) config.others.append(key, value);
  }
  return config;
}

json::Object to_json(const RuntimeConfig& config) {
  json::Object object;
  if (!config.port_mappings.empty()) {
    object.append("portMappings", to_json(config.port_mappings));
  }
  if (config.bandwidth) object.append("bandwidth", to_json(*config.bandwidth));
  if (!config.ips.empty()) object.append("ips", config.ips);
  append_text(object, "mac", config.mac);
  append_text(object, "infinibandGUID", config.infiniband_guid);
  append_text(object, "deviceID", config.device_id);
  append_text(object, "CNIDeviceInfoFile", config.cni_device_info_file);
  for (const auto& [key, value] : config.others) object.append(key, value);
  return object;
}

RuntimeConfig with_selection(RuntimeConfig config, const NetworkSelectionElement& selection,
                             bool is_master) {
  if (selection.port_mappings) config.port_mappings = *selection.port_mappings;
  if (selection.bandwidth) config.bandwidth = selection.bandwidth;
  if (selection.ips) config.ips = *selection.ips;
  if (!selection.mac.empty()) config.mac = selection.mac;
  if (!selection.infiniband_guid.empty()) config.infiniband_guid = selection.infiniband_guid;
  if (!is_master && !selection.device_id.empty()) config.device_id = selection.device_id;
  return config;
}

std::string cni_device_info_file(std::string_view delegate_name, std::string_view container_id,
                                 std::string_view ifname) {
  std::string name = cat(delegate_name, "-", container_id, "_", ifname);
  std::ranges::replace(name, '/', '-');
  return cat(kDeviceInfoDirectory, name);
}

}  // namespace mnet::model
