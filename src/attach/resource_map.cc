#include "attach/resource_map.h"

#include <algorithm>
#include <optional>
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

// Two containers of a pod may share a device.
std::vector<std::string> each_once(std::vector<std::string> ids) {
  std::ranges::sort(ids);
  const auto repeated = std::ranges::unique(ids);
  ids.erase(repeated.begin(), repeated.end());
  return ids;
}

}  // namespace

ResourceMap::ResourceMap(Devices* devices, model::PodObjectPtr pod, std::string request_uid,
                         Log log)
    : devices_(devices),
      pod_(std::move(pod)),
      request_uid_(std::move(request_uid)),
      log_(std::move(log)) {}

Error ResourceMap::none_for(const std::string& resource_name, const std::string& network,
                            const std::string& why) const {
  return cni::coded(cni::Code::kTryAgainLater,
                    cat("no device of resource ", excerpt(resource_name), " for network ",
                        excerpt(network), " of pod ", pod_->ns, "/", pod_->name, ": ", why));
}

aio::Task<void> ResourceMap::load() {
  if (resources_) co_return Result<void>();
  MNET_CO_TRY(auto&& allocated, co_await devices_->allocated(pod_, request_uid_));
  resources_.emplace();
  for (auto& [resource_name, ids] : allocated) {
    (*resources_)[resource_name] = {.all = each_once(std::move(ids)), .next = 0};
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
    co_return std::move(loaded).error().wrap(cat("looking for a device of resource ",
                                                 excerpt(resource_name), " for network ",
                                                 excerpt(network)));
  }
  const auto found = resources_->find(resource_name);
  if (found == resources_->end() || found->second.all.empty()) {
    co_return co_await take_unknown(std::move(resource_name), std::move(network));
  }
  Ids& ids = found->second;
  if (ids.next == ids.all.size()) {
    co_return none_for(resource_name, network,
                       cat("all ", ids.all.size(), " devices that ", devices_->name(),
                           " allocated to the pod are used by its other networks"));
  }
  co_return std::optional<std::string>(ids.all[ids.next++]);
}

// Bridge markers name counted resources that no device stands for; their networks run without one.
aio::Task<std::optional<std::string>> ResourceMap::take_unknown(std::string resource_name,
                                                                std::string network) {
  auto is_device = co_await devices_->is_device(resource_name);
  if (!is_device) {
    co_return none_for(
        resource_name, network,
        cat(devices_->name(),
            " allocated none to the pod, and it is unknown whether this is a device resource: ",
            is_device.error().text()));
  }
  if (*is_device) {
    co_return none_for(resource_name, network, cat(devices_->name(), " allocated none to the pod"));
  }
  log_.error(cat("resource ", excerpt(resource_name), " of network ", excerpt(network),
                 " is not a device resource: ", devices_->name(),
                 " does not know it; the network is attached without a device"));
  co_return std::optional<std::string>();
}

}  // namespace mnet::attach
