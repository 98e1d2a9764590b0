// The status of nodes, as their daemons tell it (GET /status, docs/wire.md), made into rows. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "json/json.h"
#include "multusctl/print.h"

namespace mnet::multusctl {

struct NodeStatus {
  std::string node;
  std::optional<json::Object> status;  // none: it did not answer
  std::string why = {};                // if it did not answer

  // Not an answer of a later version that means something else.
  static Result<NodeStatus> parse(std::string node, json::Object status);
};

Table status_table(const std::vector<NodeStatus>& nodes, bool is_wide);
// What is wrong on a node, one line each, with what to do; nothing if all is well.
std::vector<std::string> troubles_of(const NodeStatus& node);
// The last error line of its log, which may be about what is over; empty if there is none.
std::string last_error_of(const NodeStatus& node);
json::Object to_json(const std::vector<NodeStatus>& nodes);

}  // namespace mnet::multusctl
