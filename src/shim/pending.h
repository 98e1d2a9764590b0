// The record of a DEL that reached no daemon (03, 2.14): the daemon that comes up next does what
// the call could not.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace mnet::shim {

// Durable when this returns: no reader and no crash sees a part of it. Replaces an older record of
// the same container and interface. Yields the path.
Result<std::string> write_pending_del(std::string_view cni_dir, std::string_view container_id,
                                      std::string_view ifname, std::string_view body);

}  // namespace mnet::shim
