// Which container ids, network names and interface names are legal (01, 1.4). Errors carry CNI
// codes.
#pragma once

#include <string_view>

#include "base/result.h"

namespace mnet::cni {

// ^[a-zA-Z0-9][a-zA-Z0-9_.-]*$
bool is_identifier(std::string_view text);

Result<void> validate_container_id(std::string_view id);
Result<void> validate_network_name(std::string_view name);
Result<void> validate_ifname(std::string_view ifname);

}  // namespace mnet::cni
