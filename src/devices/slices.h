// What the ResourceSlices of DRA drivers say about their devices (02, 8.4). Many requests at once
// cost the API server few lists.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "aio/group.h"
#include "aio/task.h"
#include "base/log.h"
#include "devices/resource_objects.h"
#include "devices/shared_call.h"

namespace mnet::devices {

// `spec.nodeName=<node>,spec.driver=<driver>`, or the driver alone without a node.
std::string slice_selector(std::string_view node, std::string_view driver);

// The attributes that make a device one for networks.
inline constexpr std::string_view kDeviceIdAttribute = "k8s.cni.cncf.io/deviceID";
inline constexpr std::string_view kResourceNameAttribute = "k8s.cni.cncf.io/resourceName";

struct DraDevice {
  std::string driver, pool, name;

  auto operator<=>(const DraDevice&) const = default;
};
// Empty if its slice has none.
struct DraAttributes {
  std::string device_id, resource;
};
using DraDevices = std::map<DraDevice, DraAttributes>;

class Slices {
 public:
  // `objects` must outlive it. `time` is that of one request, and of one list.
  Slices(const aio::asio::any_io_executor& executor, ResourceObjects& objects,
         std::chrono::milliseconds time, const Log& log);

  // Those of `wanted` that slices of the node list, or slices of no node, whose devices several
  // nodes can reach. One list serves all requests that were waiting when it began.
  aio::Task<DraDevices> find(std::string node, std::set<DraDevice> wanted);

  // Waiting requests end with kCancelled, and no list begins any more.
  void cancel() { calls_.cancel(); }
  // Ends when no list runs. Await it before this object goes.
  aio::Task<void> wait_ended(aio::Deadline deadline) { return calls_.join(deadline); }

 private:
  struct Publisher {
    std::string node, driver;

    auto operator<=>(const Publisher&) const = default;
  };
  using Wanted = std::map<Publisher, std::set<DraDevice>>;
  using Listed = std::map<Publisher, Result<DraDevices>>;

  aio::Task<Listed> list(Wanted wanted);
  aio::Task<DraDevices> list_of(Publisher publisher, std::set<DraDevice> wanted);
  aio::Task<DraDevices> list_selected(std::string selector, std::set<DraDevice> wanted);

  ResourceObjects& objects_;
  const std::chrono::milliseconds time_;
  aio::Group calls_;
  SharedCall<Wanted, Listed> lists_;
};

}  // namespace mnet::devices
