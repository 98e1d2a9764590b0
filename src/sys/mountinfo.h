// The mounts of this process, as the text of /proc/self/mountinfo tells. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mnet::sys {

struct Mount {
  std::string place;        // without the octal escapes of the kernel
  bool propagates = false;  // shared, or a slave: what the host mounts below it appears here, too
};
// In the kernel's order: later mounts cover earlier ones. Lines that cannot be read are left out.
std::vector<Mount> parse_mountinfo(std::string_view text);

}  // namespace mnet::sys
