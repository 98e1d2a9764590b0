// Findings as people and programs read them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "json/json.h"
#include "lint/finding.h"

namespace mnet::lint {

// `nad.yaml:9:24 spec.config .plugins[0].type error MN012 default/bad: unknown type ...`, one line
// each. `severity` may be in colour.
std::string to_text(const std::vector<Finding>& findings, bool in_colour);
// `::error file=nad.yaml,line=9,col=24,title=MN012::...`: annotations of GitHub's checks.
std::string to_github(const std::vector<Finding>& findings);
// {"version":1,"findings":[...]}
json::Object to_json(const std::vector<Finding>& findings);

struct Counts {
  std::size_t errors = 0, warnings = 0;
};
Counts count(const std::vector<Finding>& findings);

}  // namespace mnet::lint
