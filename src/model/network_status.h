// The annotation `k8s.v1.cni.cncf.io/network-status`: what a pod's networks gave it (02, 2.4).
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cni/result.h"
#include "json/json.h"

namespace mnet::model {

inline constexpr std::string_view kNetworkStatusAnnotation = "k8s.v1.cni.cncf.io/network-status";

struct NetworkStatus {
  std::string name;  // of the delegate
  std::string interface;
  std::vector<std::string> ips;
  std::string mac;
  std::int64_t mtu = 0;
  bool is_default = false;
  cni::Dns dns;
  std::optional<json::Object> device_info;
  std::vector<std::string> gateways;
};

// One per interface in the sandbox; a result that lists no interface but addresses has one without
// a name.
Result<std::vector<NetworkStatus>> network_statuses(const cni::NetResult& result,
                                                    std::string_view delegate_name, bool is_master,
                                                    const std::optional<json::Object>& device_info);

json::Object to_json(const NetworkStatus& status);
// Byte for byte as the original writes it.
std::string annotation_text(const std::vector<NetworkStatus>& statuses);

}  // namespace mnet::model
