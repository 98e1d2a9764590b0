// The operations of server-request that only a daemon can answer.
#pragma once

#include "base/result.h"
#include "json/json.h"

namespace mnet::vectors {

// daemon-config.json to its keys, defaults applied.
Result<json::Object> daemon_config(const json::Object& input);

// One request to the daemon's socket, to the status of its answer.
Result<json::Object> http_status(const json::Object& input);

}  // namespace mnet::vectors
