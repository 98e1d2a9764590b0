// The daemon of this machine, asked over its socket (docs/wire.md); only root may.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/json.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

// Where the manifests have its configuration.
inline constexpr std::string_view kDaemonConfig = "/etc/cni/net.d/multus.d/daemon-config.json";

// Whether the command line means this machine, and not a cluster: --this-node or --socket is given,
// or there is a socket and nothing (--kubeconfig, --context, -n, --node) names a cluster.
bool is_about_this_node(const Invocation& invocation);

// Where the daemon's socket is, or would be.
std::string socket_of(const Invocation& invocation);

struct Question {
  std::string method = "GET", path, body = {};
  std::chrono::seconds patience{10};
};
// The daemon's answer. A refusal has the daemon's own words; kUnavailable: no daemon answers, and
// what to look at.
Result<json::Object> ask_daemon(const std::string& socket, Question question);

}  // namespace mnet::multusctl
