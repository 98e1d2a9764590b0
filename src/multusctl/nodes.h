// Asks this machine's daemon, or the daemons of a cluster, as the command line says.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/json.h"
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

// The objects of one list in all answers, and the nodes that did not answer, with the reason.
struct NodeItem {
  std::string node;
  json::Object item;

  // For a terminal.
  std::string text(std::string_view key) const;
  bool is_ok() const;  // false if it does not say so
};
struct NodeItems {
  std::vector<NodeItem> items;
  std::vector<std::string> silent;

  json::Array to_json() const;  // each with its `node`
};
NodeItems items_of(const std::vector<NodeAnswer>& answers, std::string_view list);

}  // namespace mnet::multusctl
