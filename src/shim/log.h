// Where the shim's log lines go (03, 3.2; 02, 9).
#pragma once

#include <string_view>

#include "base/log.h"
#include "skel/skel.h"

namespace mnet::shim {

// As the logging keys of the configuration say, none of which has to be usable: a call never fails
// because it cannot be logged.
Log open_log(std::string_view config, const skel::Front& front);

}  // namespace mnet::shim
