// The mode `thin` of autoconfig: the entry point of the thin image.
#pragma once

#include "base/result.h"
#include "json/json.h"

namespace mnet::vectors {

// Makes the generated file from command-line flags and a folder of configurations.
Result<json::Object> generate_thin(const json::Object& input);

}  // namespace mnet::vectors
