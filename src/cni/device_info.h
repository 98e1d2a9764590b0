// What a device-info file says of one device (02, 4.6): text to known members and back. Where such
// files lie is for those who read them.
#pragma once

#include <string_view>

#include "base/result.h"
#include "json/json.h"

namespace mnet::cni {

// The members that are known, in the order in which they are written; empty ones are left out, and
// so is whatever else the text has. A known member of the wrong type, or no JSON object, is an
// error.
Result<json::Object> parse_device_info(std::string_view text);

}  // namespace mnet::cni
