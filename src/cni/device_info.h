// The contents of a device-info file (02, 4.6): text to known members. Knows nothing of where such
// files are.
#pragma once

#include <string_view>

#include "base/result.h"
#include "json/json.h"

namespace mnet::cni {

// The known members, in the order in which they are to be written, without empty texts; unknown
// members are dropped. A known member of the wrong type is an error, and so is a text that is not a
// JSON object.
Result<json::Object> parse_device_info(std::string_view text);

}  // namespace mnet::cni
