// The kubelet's own file of the devices that it gave to pods (02, 8.3), for nodes whose kubelet has
// no socket. Another program's format, which is not versioned: read with care.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "devices/pod_resources.h"

namespace mnet::devices {

struct Checkpoint {
  struct Entry {
    std::string pod_uid, container, resource;
    std::vector<std::string> ids;
  };
  std::vector<Entry> entries;        // in random order
  std::set<std::string> registered;  // names of resources; they survive a reboot
};

// `error unmarshalling raw bytes`.
Result<Checkpoint> parse_checkpoint(std::string_view text);
// Blocks. Also `error reading file`.
Result<Checkpoint> load_checkpoint(const std::string& path);

// Whether several containers of the pod have devices, so that their order counts.
bool needs_order(const Checkpoint& checkpoint, const std::string& pod_uid);

// The devices of the pod, containers in the given order; entries of other containers, which are
// ordinary init containers, do not count. Without containers the pod is not known: in byte order of
// their names. `cannot be empty` without a UID.
Result<DeviceIds> devices_of(const Checkpoint& checkpoint, const std::string& pod_uid,
                             std::vector<std::string> containers);

}  // namespace mnet::devices
