// Where the shim's log lines go (03, 3.2; 02, 9).
#pragma once

#include <string_view>

#include "base/log.h"
#include "skel/skel.h"

namespace mnet::shim {

// Follows the logging keys of the configuration. Unusable ones are ignored, because a call never
// fails for want of a log.
Log open_log(std::string_view config, const skel::Front& front);

}  // namespace mnet::shim
