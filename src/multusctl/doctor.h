// The verdicts of `multusctl doctor` on a cluster and its nodes. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/json.h"
#include "multusctl/node_status.h"

namespace mnet::multusctl {

// kOdd is a warning.
enum class Verdict : std::uint8_t { kGood, kBad, kOdd, kUnknown };

struct Check {
  Verdict verdict = Verdict::kGood;
  std::string what;         // the CRD of network definitions is installed
  std::string advice = {};  // of one that is not good: what to do; a command where there is one
};

// `daemon_ns`: where the daemons are, for advice.
// The answer to the question for the CustomResourceDefinition.
Check check_crd(const Result<json::Object>& crd, const std::string& daemon_ns);
// One for each right that the daemon's account lacks, or one that it has all of them.
struct Right {
  std::string verb, group, resource, subresource = {};
};
std::vector<Right> daemon_rights();
std::vector<Check> check_rights(const std::vector<Right>& rights,
                                const std::vector<Result<json::Object>>& reviews,
                                const std::string& daemon_ns);
// One node. `own`: what to_json() wrote on it, or why it did not. If that is missing, the node's
// status tells what it can; both would tell the same things twice.
std::vector<Check> check_node(const NodeStatus& node, const Result<json::Object>& own);
// Whether the daemons have the same version, and whether there are nodes at all.
std::vector<Check> check_versions(const std::vector<NodeStatus>& nodes,
                                  const std::string& daemon_ns);
// What admission has against Multus: the Pod Security level of the daemons' namespace, and the
// answer to a dry run of what the daemon does with every pod (none: no pod was there to try it on).
std::vector<Check> check_admission(const Result<json::Object>& daemon_namespace,
                                   const std::optional<Result<json::Object>>& dry_run);
// Of `multus-daemon -check -json`, and of POST /check.
std::vector<Check> check_findings(const json::Object& self_check);
std::vector<Check> check_containers(const json::Object& answer);

std::string_view mark_of(Verdict verdict);
void append(std::vector<Check>& all, std::vector<Check> more);

// `✓ what` and `✗ what: advice`, one line each; `!` is a warning.
std::string to_text(const std::vector<Check>& checks, bool in_colour);
json::Object to_json(const std::vector<Check>& checks);

}  // namespace mnet::multusctl
