// Whether a path leads out of a container's own layer.
#pragma once

#include <string>
#include <string_view>

namespace mnet::cni_node {

// Whether the path, or a directory above it other than `/`, is a mount point. `mounts` is the text
// of /proc/self/mountinfo; unreadable: true, as nothing is known.
bool is_below_a_mount(const std::string& path);
bool is_below_a_mount(std::string_view path, std::string_view mounts);

}  // namespace mnet::cni_node
