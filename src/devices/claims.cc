#include "devices/claims.h"

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "devices/pod_resources.h"
#include "devices/slices.h"
#include "json/at.h"
#include "json/json.h"

namespace mnet::devices {
namespace {

// Of all claims of a pod: the API allows 32 for each.
constexpr std::size_t kMostAllocated = 32 * PodClaims::kMost;
constexpr std::size_t kLongestName = 253;

// The objects in a list; the API would have refused anything else.
std::vector<const json::Object*> objects_in(const json::Value* list) {
  std::vector<const json::Object*> out;
  const json::Array* array = json::as_array(list);
  if (array == nullptr) return out;
  for (const json::Value& value : *array) {
    if (value.as_object() != nullptr) out.push_back(value.as_object());
  }
  return out;
}

struct NamedClaim {
  std::string name, claim;
};

// `status.resourceClaimStatuses`. An entry without a claim means that none was needed.
std::vector<NamedClaim> statuses_of(const json::Object& pod) {
  std::vector<NamedClaim> out;
  for (const json::Object* one : objects_in(pod.find("status.resourceClaimStatuses"))) {
    out.push_back({json::text_at(*one, {"name"}), json::text_at(*one, {"resourceClaimName"})});
  }
  return out;
}

void add_name(PodClaims& claims, std::string name) {
  if (!name.empty() && std::ranges::find(claims.names, name) == claims.names.end()) {
    claims.names.push_back(std::move(name));
  }
}

void read_names(const json::Object& pod, PodClaims& claims) {
  std::vector<NamedClaim> statuses = statuses_of(pod);
  for (const json::Object* one : objects_in(pod.find("spec.resourceClaims"))) {
    const std::string name = json::text_at(*one, {"name"});
    std::string claim = json::text_at(*one, {"resourceClaimName"});
    const auto status = std::ranges::find(statuses, name, &NamedClaim::name);
    if (claim.empty() && status == statuses.end()) claims.is_unfinished = true;
    if (claim.empty() && status != statuses.end()) claim = status->claim;
    if (status != statuses.end()) statuses.erase(status);
    add_name(claims, std::move(claim));
  }
  for (NamedClaim& left : statuses) add_name(claims, std::move(left.claim));
}

void read_extended(const json::Object& pod, PodClaims& claims) {
  const json::Object* status = json::as_object(pod.find("status.extendedResourceClaimStatus"));
  if (status == nullptr) return;
  claims.extended = json::text_at(*status, {"resourceClaimName"});
  for (const json::Object* one : objects_in(status->find("requestMappings"))) {
    claims.mappings.push_back(
        {json::text_at(*one, {"resourceName"}), json::text_at(*one, {"requestName"})});
  }
}

}  // namespace

Result<PodClaims> parse_pod_claims(std::string_view text) {
  PodClaims claims;
  if (text.empty()) return claims;
  MNET_TRY(auto&& pod, json::parse_object(text));
  read_names(pod, claims);
  read_extended(pod, claims);
  if (claims.names.size() + claims.mappings.size() > PodClaims::kMost) {
    return Error(Errc::kInvalid, cat("the pod names more than ", PodClaims::kMost, " claims"));
  }
  return claims;
}

Result<std::vector<ClaimedDevices::Allocated>> ClaimedDevices::parse_allocation(
    const json::Object& claim, const std::string& name) {
  const json::Object* allocation = json::as_object(json::find_at(claim, {"status", "allocation"}));
  if (allocation == nullptr) {
    return Error(Errc::kUnavailable, cat("claim ", name, " has no device allocation"));
  }
  std::vector<Allocated> out;
  for (const json::Object* one : objects_in(json::find_at(*allocation, {"devices", "results"}))) {
    out.push_back({.request = json::text_at(*one, {"request"}),
                   .device = {.driver = json::text_at(*one, {"driver"}),
                              .pool = json::text_at(*one, {"pool"}),
                              .name = json::text_at(*one, {"device"})}});
    const auto& [driver, pool, device] = out.back().device;
    const std::size_t longest =
        std::max({out.back().request.size(), driver.size(), pool.size(), device.size()});
    if (longest > kLongestName || out.size() > kMostAllocated) {
      return Error(Errc::kProtocol, cat("claim ", name,
                                        " has more devices, or longer names, than "
                                        "the API allows"));
    }
  }
  return out;
}

aio::Task<std::vector<ClaimedDevices::Allocated>> ClaimedDevices::fetch_allocation(
    std::string name) {
  auto claim = co_await objects_.find_claim(ns_, name);
  if (!claim) co_return std::move(claim).error().wrap(cat("resource claim ", ns_, "/", name));
  if (!*claim) {
    co_return Error(Errc::kNotFound, cat("resource claim ", ns_, "/", name, " not found"));
  }
  co_return parse_allocation(**claim, name);
}

const DraAttributes* ClaimedDevices::find(const Allocated& one) const {
  const auto found = known_.find(one.device);
  return found == known_.end() ? nullptr : &found->second;
}

// Claims may hold devices of other kinds, such as GPUs.
void ClaimedDevices::add_claim(const std::string& name, const std::vector<Allocated>& allocated,
                               DeviceIds& out) {
  for (const Allocated& one : allocated) {
    const DraAttributes* attributes = find(one);
    if (attributes == nullptr) {
      unlisted_.push_back(cat("device ", excerpt(one.device.name), " of driver ",
                              excerpt(one.device.driver), " in claim ", name));
    }
    if (attributes == nullptr || attributes->device_id.empty() || attributes->resource.empty()) {
      log_.verbose(cat("device ", excerpt(one.device.name), " of driver ",
                       excerpt(one.device.driver), " in claim ", name,
                       " is ignored: no ResourceSlice gives it the attributes ", kDeviceIdAttribute,
                       " and ", kResourceNameAttribute));
      continue;
    }
    out[attributes->resource].push_back(attributes->device_id);
  }
}

Result<void> ClaimedDevices::add_extended(const PodClaims& claims,
                                          const std::vector<Allocated>& allocated,
                                          DeviceIds& out) const {
  for (const PodClaims::Mapping& mapping : claims.mappings) {
    bool is_there = false;
    for (const Allocated& one : allocated) {
      if (one.request != mapping.request) continue;
      is_there = true;
      const DraAttributes* attributes = find(one);
      const std::string what =
          cat("device ", excerpt(one.device.name), " of claim ", claims.extended);
      if (attributes == nullptr) {
        return Error(Errc::kUnavailable, cat(what, ": no resource slice lists it"));
      }
      if (attributes->device_id.empty() || attributes->resource.empty()) {
        return Error(Errc::kInvalid, cat(what, ": missing required attribute ",
                                         attributes->device_id.empty() ? kDeviceIdAttribute
                                                                       : kResourceNameAttribute));
      }
      if (attributes->resource != mapping.resource) {
        return Error(Errc::kInvalid,
                     cat(what, ": its resource is ", excerpt(attributes->resource),
                         ", and the pod's status says ", excerpt(mapping.resource)));
      }
      out[mapping.resource].push_back(attributes->device_id);
    }
    if (!is_there) {
      return Error(Errc::kInvalid, cat("request ", excerpt(mapping.request), " not found in claim ",
                                       claims.extended));
    }
  }
  return {};
}

aio::Task<DeviceIds> ClaimedDevices::add_to(DeviceIds devices, PodClaims claims) {
  std::vector<std::vector<Allocated>> of_claims;
  std::vector<Allocated> extended;
  std::size_t count = 0;
  for (const std::string& name : claims.names) {
    MNET_CO_TRY(auto&& allocated, co_await fetch_allocation(name));
    count += allocated.size();
    if (count > kMostAllocated) {
      co_return Error(Errc::kProtocol,
                      cat("the pod's claims have more than ", kMostAllocated, " devices"));
    }
    of_claims.push_back(std::move(allocated));
  }
  if (!claims.extended.empty()) {
    MNET_CO_TRY(auto&& allocated, co_await fetch_allocation(claims.extended));
    extended = std::move(allocated);
  }
  std::set<DraDevice> wanted;
  for (const Allocated& one : extended) wanted.insert(one.device);
  for (const Allocated& one : of_claims | std::views::join) wanted.insert(one.device);
  MNET_CO_TRY(auto&& known, co_await slices_.find(node_, std::move(wanted)));
  known_ = std::move(known);
  for (std::size_t i = 0; i < of_claims.size(); ++i) {
    add_claim(claims.names[i], of_claims[i], devices);
  }
  MNET_CO_TRY_VOID(add_extended(claims, extended, devices));
  co_return devices;
}

}  // namespace mnet::devices
