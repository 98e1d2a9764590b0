// Where a DEL that reached no daemon is remembered (03, 2.14): the shim writes there, the daemon
// replays. Only the names; whoever uses them does the I/O.
#pragma once

#include <string>
#include <string_view>

namespace mnet::cni {

// Below `cni_dir`. Nothing else of ours in there has this name: no container id may be it (02,
// 0.3).
inline constexpr std::string_view kPendingDels = "pending-del";

std::string pending_del_directory(std::string_view cni_dir);  // <cniDir>/pending-del
std::string pending_del_file(std::string_view container_id,
                             std::string_view ifname);  // <containerID>-<ifname>.json

}  // namespace mnet::cni
