// Turns the status that daemons report (GET /status, docs/wire.md) into rows and advice. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
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
// What is wrong on a node, one line each, with what to do; empty if nothing is. Beside a self-check
// of that node, what the self-check says as well is left out.
enum class Beside : std::uint8_t { kNothing, kSelfCheck };
std::vector<std::string> troubles_of(const NodeStatus& node, Beside beside = Beside::kNothing);
// The last error line of its log, which may be about what is over; empty if there is none.
std::string last_error_of(const NodeStatus& node);
// The plugins that at least one node has. kUnavailable, with the reason, if those of a node are not
// known.
using PluginNames = std::set<std::string, std::less<>>;
Result<PluginNames> plugins_of(const std::vector<NodeStatus>& nodes);
json::Object to_json(const std::vector<NodeStatus>& nodes);

}  // namespace mnet::multusctl
