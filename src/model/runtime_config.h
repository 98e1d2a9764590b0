// Capability arguments: the runtime's `runtimeConfig` and a delegate's selection element become
// what its plugins are offered (02, 4.3).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/json.h"
#include "model/selection_element.h"

namespace mnet::model {

// The netconf's `runtimeConfig`. Absent lists and objects differ from empty ones only where a
// selection element replaces them.
struct RuntimeConfig {
  std::vector<PortMapping> port_mappings;
  std::optional<Bandwidth> bandwidth;
  std::vector<std::string> ips;
  std::string mac, infiniband_guid, device_id, cni_device_info_file;
  json::Object others;  // members we do not know, as they came
};

Result<RuntimeConfig> read_runtime_config(const json::Object& object, std::string path);

// As they are offered: empty members are left out.
json::Object to_json(const RuntimeConfig& config);

// `config` with the selection element of a delegate laid over. A master's own device is not applied
// (02, 4.3).
RuntimeConfig with_selection(RuntimeConfig config, const NetworkSelectionElement& selection,
                             bool is_master);

inline constexpr std::string_view kDeviceInfoDirectory = "/var/run/k8s.cni.cncf.io/devinfo/cni/";

// Where a plugin finds and leaves the description of its device (02, 4.6).
std::string cni_device_info_file(std::string_view delegate_name, std::string_view container_id,
                                 std::string_view ifname);

}  // namespace mnet::model
