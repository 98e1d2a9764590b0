// What an ADD of a pod would attach, and why: the daemon's own resolver and planner, without the
// part that attaches.
#pragma once

#include <string>
#include <vector>

#include "aio/task.h"
#include "attach/ports.h"
#include "base/result.h"
#include "json/json.h"
#include "model/objects.h"

namespace mnet::multusctl {

struct ExplainInput {
  // What a request on the pod's node brings, the daemon's own keys laid over it; without networks
  // if the node's files are not at hand.
  json::Object conf = {};
  bool is_node_known = false;
  model::PodObjectPtr pod = {};
  std::vector<model::NetworkDefinition> definitions = {};
  attach::Devices* devices = nullptr;  // of the pod's node; none: they are not known
};

// {"version":1,"pod","networks":[...],"unknown":[...]}: each network with its interface, source,
// plugin types, batch, default routes, isolation verdict, arguments and configuration without
// secrets. The error is the one that ADD would give.
aio::Task<json::Object> explain(ExplainInput input);

// The same for people.
std::string explained_text(const json::Object& explained);

}  // namespace mnet::multusctl
