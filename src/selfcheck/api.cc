#include "selfcheck/api.h"

#include <chrono>
#include <string>

#include "base/text.h"
#include "selfcheck/finding.h"

namespace mnet::selfcheck {
namespace {

// Certificates and tokens are refused when clocks differ; their makers allow for a minute or more.
constexpr std::chrono::seconds kMostDifference{30};

}  // namespace

Findings judge_api(const ApiVisit& visit) {
  if (visit.failure) {
    return {{.severity = Severity::kError,
             .check = kApi,
             .what = cat("the API server ", visit.server,
                         " cannot be reached: ", excerpt(visit.failure->text())),
             .why = "Pods that ask for networks do not start",
             .advice = "Check the daemon's kubeconfig and certificates, this node's clock and its "
                       "route to the server"}};
  }
  Findings found;
  for (const std::string& refusal : visit.refused) {
    found.push_back({.severity = Severity::kError,
                     .check = kApi,
                     .what = excerpt(refusal),
                     .why = "Pods that ask for networks do not start, or have no network status",
                     .advice = "Apply the role of the manifest that fits this version"});
  }
  if (visit.clock_difference && std::chrono::abs(*visit.clock_difference) > kMostDifference) {
    const bool is_late = *visit.clock_difference > std::chrono::seconds(0);
    found.push_back(
        {.severity = Severity::kWarning,
         .check = kClock,
         .what =
             cat("the clock of this node is ", std::chrono::abs(*visit.clock_difference).count(),
                 " s ", is_late ? "behind" : "ahead of", " that of the API server"),
         .why = "Certificates and tokens are refused, and logs of several nodes do not match",
         .advice = "Set the clock, and run a time service on all nodes"});
  }
  return found;
}

}  // namespace mnet::selfcheck
