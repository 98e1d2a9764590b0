// Hands the devices that a pod was given to its networks, each once (02, 8.1). One per request: all
// of its networks share it, and it asks only when the first of them wants a device.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/ports.h"
#include "base/log.h"

namespace mnet::attach {

class ResourceMap {
 public:
  // `devices` may be nullptr: then there are no devices. It must outlive this.
  ResourceMap(Devices* devices, model::PodObjectPtr pod, std::string request_uid, Log log);

  // Devices that the container's networks have already: take() gives none of them.
  void leave_out(std::set<std::string> ids) { left_out_ = std::move(ids); }
  // The next device of that resource for the network, in the order of the port. An error with code
  // 11 if there is none; nothing if it is not a device resource (a bridge marker), which the
  // log says, once. One call at a time.
  aio::Task<std::optional<std::string>> take(std::string resource_name, std::string network);
  // A device that the pod's annotation names: take() will not give it to another network. kDenied
  // if the pod was not allocated it (02, 2.1).
  aio::Task<void> claim(std::string id, std::string network);

 private:
  struct Device {
    std::string id;
    bool is_taken = false;
  };

  aio::Task<void> load();
  aio::Task<std::optional<std::string>> take_unknown(std::string resource_name,
                                                     std::string network);
  Error none_for(const std::string& resource_name, const std::string& network,
                 const std::string& why) const;
  // Who was asked, and what the pod has instead, for errors.
  std::string asked() const;
  std::string offer() const;

  Devices* devices_;
  model::PodObjectPtr pod_;
  std::string request_uid_;
  Log log_;
  std::set<std::string> left_out_;
  std::optional<std::map<std::string, std::vector<Device>>> resources_;
  std::set<std::string> no_devices_;  // resources that are none, as was asked
};

}  // namespace mnet::attach
