// Whether the node has the devices that network definitions name.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "selfcheck/finding.h"

namespace mnet::selfcheck {

struct DeviceNeed {
  std::string network;   // for people: `default/sriov`
  std::string resource;  // its annotation k8s.v1.cni.cncf.io/resourceName
};

// How many devices of each resource the kubelet offers. Yields a note about these, and a finding
// for each resource that is needed and not offered, however many networks need it.
Findings check_devices(const std::vector<DeviceNeed>& needs,
                       const std::map<std::string, std::size_t>& offer);
// The same if the kubelet could not be asked.
Findings check_devices(const std::vector<DeviceNeed>& needs, const Error& failure);

}  // namespace mnet::selfcheck
