// The daemons of a cluster: which pod serves which node.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "aio/task.h"
#include "base/result.h"
#include "json/json.h"
#include "multusctl/cluster.h"
#include "multusctl/commands.h"
#include "multusctl/invocation.h"
#include "multusctl/node_status.h"

namespace mnet::multusctl {

// Where the image has this program.
inline constexpr std::string_view kInPod = "/usr/src/multus-cni/bin/multusctl";
inline constexpr std::string_view kDaemonNamespace = "kube-system";

// A node and the pod of its daemon.
struct DaemonPod {
  std::string node, ns, name, container;
  std::string why_not = {};  // why it cannot be asked; empty: it can
};

// The flag of a command that names the daemons' namespace: -n, or --daemon-namespace where -n means
// something else. Empty: the command asks no daemons.
std::string_view daemon_flag(const Command& command);

// The one that the command line names, or that of the manifests.
std::string daemon_namespace(const Invocation& invocation);

// The daemons' pods in that namespace, by the label app=multus, and the nodes that have none; of
// the `wanted` nodes, or of all. kNotFound: a wanted node does not exist, or there are no nodes.
aio::Task<std::vector<DaemonPod>> find_daemons(Cluster* cluster, std::string ns,
                                               std::vector<std::string> wanted);

// What a command in the daemon's pod answers: one JSON object, whatever its exit code.
struct Errand {
  std::vector<std::string> command;
  std::chrono::seconds patience{10};
  bool shows_progress = false;
};
struct NodeAnswer {
  std::string node;
  Result<json::Object> answer;
};
// The same command on each of the nodes, 16 side by side.
aio::Task<std::vector<NodeAnswer>> run_on_nodes(Cluster* cluster, std::vector<DaemonPod> pods,
                                                Errand errand);
// `multusctl WORDS... --this-node -o json` there.
std::vector<std::string> in_pod(std::vector<std::string> words);

// The status of each. One that does not answer is in it with the reason.
aio::Task<std::vector<NodeStatus>> ask_daemons(Cluster* cluster, std::vector<DaemonPod> pods,
                                               bool shows_progress);

}  // namespace mnet::multusctl
