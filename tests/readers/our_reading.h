// How Multus itself reads a text, in the form in which the Go program tells its own reading
// (tests/readers/go): members that are empty are left out by both.
#pragma once

#include <string_view>

#include "base/result.h"
#include "json/json.h"

namespace mnet::readers {

Result<json::Value> read_networks(std::string_view text);
Result<json::Value> read_delegate(std::string_view text);
Result<json::Value> read_netconf(std::string_view text);
Result<json::Value> read_result(std::string_view text);
Result<json::Value> read_daemon_config(std::string_view text);
Result<json::Value> read_any(std::string_view text);

// A certificate request that we approve; an error for all others.
Result<json::Value> read_approved_request(std::string_view text);

// `{"ca": PEM, "chain": PEM, "name": ...}`: true if a server that sends this chain is trusted.
Result<json::Value> read_chain(std::string_view text);

}  // namespace mnet::readers
