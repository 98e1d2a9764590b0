// Devices that DRA drivers gave to a pod through its ResourceClaims (resource.k8s.io/v1; 02, 8.4).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/log.h"
#include "devices/pod_resources.h"
#include "devices/resource_objects.h"
#include "devices/slices.h"
#include "json/json.h"

namespace mnet::devices {

// Which claims a pod's object names.
struct PodClaims {
  struct Mapping {
    std::string resource, request;
  };
  static constexpr std::size_t kMost = 256;

  std::vector<std::string> names;  // in the order of the pod
  // A claim is to be made from a template, and the object does not name it yet.
  bool is_unfinished = false;
  std::string extended;  // the claim that stands for extended resources; empty: none
  std::vector<Mapping> mappings;

  bool is_empty() const { return names.empty() && extended.empty(); }
};
// `text` is what model::PodObject::resource_claims keeps of the object.
Result<PodClaims> parse_pod_claims(std::string_view text);

// One request's reading of claims and slices.
class ClaimedDevices {
 public:
  // `objects` and `slices` must outlive it.
  ClaimedDevices(ResourceObjects& objects, Slices& slices, std::string ns, std::string node,
                 Log log)
      : objects_(objects),
        slices_(slices),
        ns_(std::move(ns)),
        node_(std::move(node)),
        log_(std::move(log)) {}

  // Yields `devices`, followed by those of the claims.
  aio::Task<DeviceIds> add_to(DeviceIds devices, PodClaims claims);
  // Devices of the claims that add_to() read which no slice lists now, so it is not known what they
  // are. A kubelet that starts deletes the slices of its node, and drivers publish them again.
  const std::vector<std::string>& unlisted() const { return unlisted_; }

 private:
  struct Allocated {
    std::string request;
    DraDevice device;
  };

  static Result<std::vector<Allocated>> parse_allocation(const json::Object& claim,
                                                         const std::string& name);

  aio::Task<std::vector<Allocated>> fetch_allocation(std::string name);
  void add_claim(const std::string& name, const std::vector<Allocated>& allocated, DeviceIds& out);
  Result<void> add_extended(const PodClaims& claims, const std::vector<Allocated>& allocated,
                            DeviceIds& out) const;
  const DraAttributes* find(const Allocated& one) const;

  ResourceObjects& objects_;
  Slices& slices_;
  const std::string ns_, node_;
  const Log log_;
  DraDevices known_;
  std::vector<std::string> unlisted_;
};

}  // namespace mnet::devices
