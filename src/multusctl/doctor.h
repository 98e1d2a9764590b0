// What is wrong with Multus in a cluster as a whole: the judgements of `multusctl doctor`. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "json/json.h"
#include "multusctl/node_status.h"

namespace mnet::multusctl {

enum class Verdict : std::uint8_t { kGood, kBad, kUnknown };

struct Check {
  Verdict verdict = Verdict::kGood;
  std::string what;         // the definition of networks is installed
  std::string advice = {};  // of one that is not good: what to do; a command where there is one
};

// The answer to the question for the CustomResourceDefinition.
Check check_crd(const Result<json::Object>& crd);
// One for each right that the daemon's account lacks, or one that it has all of them.
struct Right {
  std::string verb, group, resource, subresource = {};
};
std::vector<Right> daemon_rights();
std::vector<Check> check_rights(const std::vector<Right>& rights,
                                const std::vector<Result<json::Object>>& reviews);
// Nodes without a daemon, daemons that do not answer or are not ready, versions that differ, and
// what each daemon tells of itself.
std::vector<Check> check_nodes(const std::vector<NodeStatus>& nodes);

// `✓ what` and `✗ what: advice`, one line each.
std::string to_text(const std::vector<Check>& checks, bool in_colour);
json::Object to_json(const std::vector<Check>& checks);

}  // namespace mnet::multusctl
