// `multusctl lint`: reads files, directories, standard input or the cluster's objects, and prints
// what is wrong with them (src/lint).
#pragma once

#include <vector>

#include "base/result.h"
#include "lint/finding.h"
#include "multusctl/commands.h"
#include "multusctl/invocation.h"
#include "multusctl/node_status.h"

namespace mnet::multusctl {

// What `lint --cluster` finds. Types are compared with the plugins of these nodes if each node
// tells which it has.
Result<std::vector<lint::Finding>> lint_cluster(const Invocation& invocation,
                                                const Surroundings& surroundings,
                                                const std::vector<NodeStatus>& nodes);

}  // namespace mnet::multusctl
