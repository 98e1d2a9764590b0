// The version as both tools print it: `<version> (git-<8 hexadecimal digits>)` (04, 1.1).
#pragma once

#include <string>

namespace mnet::nodetools {

// Without a known commit the digits are zeros.
std::string version_text();

}  // namespace mnet::nodetools
