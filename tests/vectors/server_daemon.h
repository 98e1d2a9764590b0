// The operations of server-request that only a daemon can answer.
#pragma once

#include "base/result.h"
#include "json/json.h"

namespace mnet::vectors {

// Parses daemon-config.json into its keys, with defaults applied.
Result<json::Object> daemon_config(const json::Object& input);

// Sends one request to the daemon's socket and yields the status of its answer.
Result<json::Object> http_status(const json::Object& input);

}  // namespace mnet::vectors
