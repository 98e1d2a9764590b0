// Where the kubelet keeps what it tells other programs of the node (02, 8).
#pragma once

#include <string>

#include "base/text.h"

namespace mnet::devices {

inline constexpr const char* kDefaultKubeletDir = "/var/lib/kubelet";

inline std::string pod_resources_socket(const std::string& kubelet_dir) {
  return cat(kubelet_dir, "/pod-resources/kubelet.sock");
}
inline std::string checkpoint_file(const std::string& kubelet_dir) {
  return cat(kubelet_dir, "/device-plugins/kubelet_internal_checkpoint");
}

}  // namespace mnet::devices
