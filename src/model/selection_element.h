// The network selection element (02, 2.1): which network a pod selects and what it asks of it. Kept
// with the delegate, stored in the scratch file, offered to the plugins (02, 4.2 and 4.3). Knows no
// annotation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/fields.h"
#include "json/json.h"

namespace mnet::model {

struct PortMapping {
  std::int64_t host_port = 0, container_port = 0;
  std::string protocol, host_ip;
};

struct Bandwidth {
  std::int64_t ingress_rate = 0, ingress_burst = 0, egress_rate = 0, egress_burst = 0;
};

// An empty text means that the pod asks for nothing; a list that is present and empty asks for an
// empty list (02, 4.3).
struct NetworkSelectionElement {
  std::string ns, name;  // of the network-attachment-definition
  std::string ifname;
  std::string mac;
  std::string infiniband_guid;
  std::optional<std::vector<std::string>> ips;
  std::optional<std::vector<PortMapping>> port_mappings;
  std::optional<Bandwidth> bandwidth;
  std::optional<std::vector<std::string>> gateways;  // `default-route`
  std::string device_id;
  std::string resource_name;
  std::optional<json::Object> cni_args;
};

// The member `key`; none if it is absent.
Result<std::optional<std::vector<PortMapping>>> find_port_mappings(const json::Fields& fields,
                                                                   std::string_view key);
Result<std::optional<Bandwidth>> find_bandwidth(const json::Fields& fields, std::string_view key);

// `protocol` and `hostIP` only if not empty; all four numbers of a bandwidth.
json::Array to_json(const std::vector<PortMapping>& mappings);
json::Object to_json(const Bandwidth& bandwidth);

}  // namespace mnet::model
