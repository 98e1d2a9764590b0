#include "selfcheck/devices.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "selfcheck/finding.h"

namespace mnet::selfcheck {
namespace {

// The authors of device plugins and definitions choose how many resources there are.
constexpr std::size_t kMostTold = 20;

std::string list_of(const std::map<std::string, std::size_t>& offer) {
  std::vector<std::string> all;
  for (const auto& [resource, count] : offer) {
    if (all.size() == kMostTold) break;
    all.push_back(cat(excerpt(resource), " (", count, ")"));
  }
  if (offer.size() > all.size()) all.push_back(cat(offer.size() - all.size(), " more"));
  return join(all, ", ");
}

}  // namespace

Findings check_devices(const std::vector<DeviceNeed>& needs,
                       const std::map<std::string, std::size_t>& offer) {
  Findings found;
  if (!offer.empty()) {
    found.push_back({.severity = Severity::kNote,
                     .check = kDevices,
                     .what = cat("the kubelet offers ", list_of(offer)),
                     .why = {},
                     .advice = {}});
  }
  std::map<std::string, std::string> missing;  // by resource
  for (const DeviceNeed& need : needs) {
    if (!offer.contains(need.resource)) missing.try_emplace(need.resource, need.network);
  }
  for (const auto& [resource, network] : missing) {
    if (found.size() == kMostTold) break;
    found.push_back(
        {.severity = Severity::kWarning,
         .check = kDevices,
         .what = cat("network definition ", excerpt(network), " needs a device of resource ",
                     excerpt(resource), ", and the kubelet offers none"),
         .why = "Pods of this node that ask for it start only if a resource claim provides one",
         .advice = "Start the device plugin of this resource on the node, or correct the "
                   "definition's annotation k8s.v1.cni.cncf.io/resourceName"});
  }
  return found;
}

Findings check_devices(const std::vector<DeviceNeed>& needs, const Error& failure) {
  if (needs.empty()) return {};
  return {{.severity = Severity::kWarning,
           .check = kDevices,
           .what = cat("cannot read from the kubelet which devices there are: ", failure.text()),
           .why = cat("Pods that ask for ", excerpt(needs.front().network),
                      " may get no device, and then do not start"),
           .advice = "Mount the kubelet's folder into the daemon's pod, and set kubeletDir if it "
                     "is not the usual one"}};
}

}  // namespace mnet::selfcheck
