// The mode `thin` of autoconfig: the entry point of the thin image.
#pragma once

#include "base/result.h"
#include "json/json.h"

namespace mnet::vectors {

// Command line flags and a folder of configurations to the file that is generated.
Result<json::Object> generate_thin(const json::Object& input);

}  // namespace mnet::vectors
