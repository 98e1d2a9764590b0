// One question to this machine's daemon, or to those of a cluster, as the command line means it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "multusctl/commands.h"
#include "multusctl/daemons.h"
#include "multusctl/invocation.h"
#include "multusctl/node_socket.h"

namespace mnet::multusctl {

struct NodesQuestion {
  Question here;                   // on this machine's socket
  std::vector<std::string> words;  // of multusctl in a daemon's pod that ask the same
};

// Of the nodes that are wanted, or of that of --node, or of all. The node's name is `this node`
// where only its daemon would know it.
Result<std::vector<NodeAnswer>> ask_nodes(const Invocation& invocation,
                                          const Surroundings& surroundings, NodesQuestion question,
                                          std::vector<std::string> wanted = {});

}  // namespace mnet::multusctl
