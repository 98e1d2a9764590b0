// The daemons of a cluster: which pod serves which node.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "aio/task.h"
#include "multusctl/cluster.h"
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

// The daemons' pods in that namespace, by the label app=multus, and the nodes that have none; of
// the `wanted` nodes, or of all.
aio::Task<std::vector<DaemonPod>> find_daemons(Cluster* cluster, std::string ns,
                                               std::vector<std::string> wanted);

// Asks each by an exec in its pod, 16 side by side. One that does not answer is in it with the
// reason.
aio::Task<std::vector<NodeStatus>> ask_daemons(Cluster* cluster, std::vector<DaemonPod> pods,
                                               bool shows_progress);

}  // namespace mnet::multusctl
