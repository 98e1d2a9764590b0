// Names the files of pending DELs (03, 2.14): the shim records a DEL that did not reach a daemon,
// and the daemon replays it. No I/O here.
#pragma once

#include <string>
#include <string_view>

namespace mnet::cni {

// A directory below `cni_dir`. No container id may be this name (02, 0.3), so none of our other
// files there has it.
inline constexpr std::string_view kPendingDels = "pending-del";

std::string pending_del_directory(std::string_view cni_dir);  // <cniDir>/pending-del
std::string pending_del_file(std::string_view container_id,
                             std::string_view ifname);  // <containerID>-<ifname>.json

}  // namespace mnet::cni
