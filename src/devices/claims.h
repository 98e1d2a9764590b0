// Devices that DRA drivers gave to a pod through its ResourceClaims (resource.k8s.io/v1; 02, 8.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/log.h"
#include "devices/pod_resources.h"
#include "json/json.h"

namespace mnet::devices {

// Where claims and slices come from: the API server, in tests a case.
class ResourceObjects {
 public:
  struct SlicePage {
    json::Array items;
    std::string next;  // empty: there are no more
  };

  virtual ~ResourceObjects() = default;
  // None if there is no such claim.
  virtual aio::Task<std::optional<json::Object>> find_claim(std::string ns, std::string name) = 0;
  // ResourceSlices that the field selector selects, for a pod in `ns`; `from` is `next` of the page
  // before.
  virtual aio::Task<SlicePage> list_slices(std::string ns, std::string field_selector,
                                           std::string from) = 0;
};

// `spec.nodeName=<node>,spec.driver=<driver>`, or the driver alone without a node.
std::string slice_selector(std::string_view node, std::string_view driver);

// Which claims a pod's object names.
struct PodClaims {
  struct Mapping {
    std::string resource, request;
  };
  static constexpr std::size_t kMost = 256;

  std::vector<std::string> names;  // in the order of the pod
  // A claim is made from a template and the object does not say yet which it is.
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
  // `objects` must outlive it.
  ClaimedDevices(ResourceObjects& objects, std::string ns, std::string node, Log log)
      : objects_(objects), ns_(std::move(ns)), node_(std::move(node)), log_(std::move(log)) {}

  // `devices` and, after what is there, those of the claims.
  aio::Task<DeviceIds> add_to(DeviceIds devices, PodClaims claims);

 private:
  struct Allocated {
    std::string request, driver, pool, device;
  };
  struct Attributes {
    std::string device_id, resource;
  };
  using DeviceKey = std::tuple<std::string, std::string, std::string>;  // driver, pool, device
  struct Wanted {
    std::set<DeviceKey> devices;
    std::map<std::string, std::int64_t> generations;  // the newest of each pool
    std::map<DeviceKey, std::pair<std::int64_t, Attributes>> found;
  };

  static DeviceKey key_of(const Allocated& one) { return {one.driver, one.pool, one.device}; }
  static Result<std::vector<Allocated>> parse_allocation(const json::Object& claim,
                                                         const std::string& name);
  static void read_slice(const json::Object& slice, Wanted& wanted);

  aio::Task<std::vector<Allocated>> fetch_allocation(std::string name);
  aio::Task<void> fetch_attributes(std::vector<Allocated> allocated);
  aio::Task<void> read_slices(std::string driver, std::string selector);
  void add_claim(const std::string& name, const std::vector<Allocated>& allocated,
                 DeviceIds& out) const;
  Result<void> add_extended(const PodClaims& claims, const std::vector<Allocated>& allocated,
                            DeviceIds& out) const;
  const Attributes* find(const Allocated& one) const;

  ResourceObjects& objects_;
  const std::string ns_, node_;
  const Log log_;
  std::set<DeviceKey> wanted_;
  std::map<DeviceKey, Attributes> known_;
};

}  // namespace mnet::devices
