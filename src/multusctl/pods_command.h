// `multusctl pods`: which networks pods asked for and got.
#pragma once

#include <string>
#include <vector>

#include "aio/task.h"
#include "json/json.h"
#include "multusctl/cluster.h"
#include "multusctl/commands.h"
#include "multusctl/invocation.h"
#include "multusctl/pod_networks.h"

namespace mnet::multusctl {

// Of the named pods, or of all that have not ended; `ns` empty: of all namespaces.
aio::Task<std::vector<PodRows>> fetch_pods(Cluster* cluster, std::string ns,
                                           std::vector<std::string> names);
json::Object to_json(const std::vector<PodRows>& pods);

}  // namespace mnet::multusctl
