#include "attach/resource_map.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/ports.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/error.h"
#include "model/objects.h"

namespace mnet::attach {
namespace {

// How many resources a request may ask about: each time the kubelet, its checkpoint and the pod's
// claims are read, and authors of definitions choose how many there are.
constexpr std::size_t kMostUnknown = 16;

}  // namespace

ResourceMap::ResourceMap(Devices* devices, model::PodObjectPtr pod, std::string request_uid,
                         Log log)
    : devices_(devices),
      pod_(std::move(pod)),
      request_uid_(std::move(request_uid)),
      log_(std::move(log)) {}

Error ResourceMap::none_for(const std::string& resource_name, const std::string& network,
                            const std::string& why) const {
  return cni::coded(cni::Code::kTryAgainLater, cat("no device of resource ", excerpt(resource_name),
                                                   " for network ", excerpt(network), " of pod ",
                                                   pod_->ns, "/", pod_->name, ": ", why, offer()));
}

std::string ResourceMap::asked() const {
  if (pod_->resource_claims.empty()) return devices_->name();
  return cat(devices_->name(), " and the drivers of its claims");
}

std::string ResourceMap::offer() const {
  if (!resources_) return {};
  if (resources_->empty()) return "; the pod has no devices at all";
  constexpr std::size_t kMostNames = 8;
  std::vector<std::string> names;
  for (const auto& [name, devices] : *resources_) {
    if (names.size() == kMostNames) break;
    names.push_back(cat(excerpt(name), " (", devices.size(), ")"));
  }
  if (resources_->size() > kMostNames) names.emplace_back("...");
  return cat("; the pod has devices of ", join(names, ", "));
}

aio::Task<void> ResourceMap::load() {
  if (resources_) co_return Result<void>();
  MNET_CO_TRY(auto&& allocated, co_await devices_->allocated(pod_, request_uid_, log_));
  resources_.emplace();
  for (auto& [resource_name, ids] : allocated) {
    std::set<std::string> seen;
    for (std::string& id : ids) {
      if (!seen.insert(id).second) continue;
      const bool is_taken = left_out_.contains(id);
      (*resources_)[resource_name].push_back({.id = std::move(id), .is_taken = is_taken});
    }
  }
  co_return Result<void>();
}

aio::Task<std::optional<std::string>> ResourceMap::take(std::string resource_name,
                                                        std::string network) {
  if (devices_ == nullptr) {
    co_return none_for(resource_name, network, "this daemon has no source of devices");
  }
  auto loaded = co_await load();
  if (!loaded) {
    if (loaded.error().code() == Errc::kCancelled) co_return std::move(loaded).error();
    co_return none_for(resource_name, network, loaded.error().text());
  }
  const auto found = resources_->find(resource_name);
  if (found == resources_->end()) {
    co_return co_await take_unknown(std::move(resource_name), std::move(network));
  }
  const auto free = std::ranges::find(found->second, false, &Device::is_taken);
  if (free == found->second.end()) {
    co_return none_for(resource_name, network,
                       cat("all ", found->second.size(), " devices that ", asked(),
                           " allocated to the pod are used by its other networks"));
  }
  free->is_taken = true;
  co_return std::optional<std::string>(free->id);
}

// Some resources (bridge-marker's) are only counted and have no devices: the network needs none.
aio::Task<std::optional<std::string>> ResourceMap::take_unknown(std::string resource_name,
                                                                std::string network) {
  if (no_devices_.contains(resource_name)) co_return std::optional<std::string>();
  if (no_devices_.size() >= kMostUnknown) {
    co_return none_for(resource_name, network,
                       cat("the networks of the pod name more than ", kMostUnknown,
                           " resources of which it has no devices"));
  }
  auto is_device = co_await devices_->is_device(pod_, resource_name, log_);
  if (!is_device) {
    co_return none_for(
        resource_name, network,
        cat(asked(),
            " allocated none to the pod, and it is unknown whether this is a device resource: ",
            is_device.error().text()));
  }
  if (*is_device) {
    co_return none_for(resource_name, network,
                       cat(asked(),
                           " allocated none to the pod: add it to the limits of a container, or "
                           "correct the definition's annotation"));
  }
  log_.error(cat("resource ", excerpt(resource_name), " of network ", excerpt(network),
                 " is not a device resource: ", devices_->name(),
                 " does not know it; its networks are attached without a device"));
  no_devices_.insert(std::move(resource_name));
  co_return std::optional<std::string>();
}

aio::Task<void> ResourceMap::claim(std::string id, std::string network) {
  const std::string what = cat("device ", go_quoted(id), " of network ", excerpt(network),
                               " in the annotation of pod ", pod_->ns, "/", pod_->name);
  if (devices_ == nullptr) {
    co_return Error(Errc::kDenied, cat(what, ": this daemon has no source of devices"));
  }
  auto loaded = co_await load();
  if (!loaded) co_return std::move(loaded).error().wrap(what);
  bool is_allocated = false;
  for (auto& [resource_name, devices] : *resources_) {
    for (Device& device : devices) {
      if (device.id == id) device.is_taken = is_allocated = true;
    }
  }
  if (is_allocated) co_return Result<void>();
  co_return Error(Errc::kDenied,
                  cat(what, ": ", asked(), " did not allocate it to the pod", offer(),
                      "; allowAnnotationDevices would take it all the same"));
}

}  // namespace mnet::attach
