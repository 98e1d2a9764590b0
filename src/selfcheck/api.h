// Judges what a look at the API server showed. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "selfcheck/finding.h"

namespace mnet::selfcheck {

struct ApiVisit {
  std::string server;                 // its address; empty: none is known
  std::optional<Error> failure = {};  // of the way to it
  // What we need and may not do, such as `list pods: <the server's words>`.
  std::vector<std::string> refused = {};
  // How much later its clock is than ours.
  std::optional<std::chrono::seconds> clock_difference = {};
};
Findings judge_api(const ApiVisit& visit);

}  // namespace mnet::selfcheck
