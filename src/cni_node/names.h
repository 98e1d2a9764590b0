// Names of plugins, configurations and manifests, lists of them, and what two lists differ in (04,
// 1.4, 1.5, 1.7). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mnet::cni_node {

using Names = std::vector<std::string>;

bool contains(const Names& names, std::string_view name);

// `[A-Za-z0-9_][A-Za-z0-9._+@-]*`, at most 200 bytes: no path, nothing hidden, no option.
bool is_valid_name(std::string_view name);

// Separated by commas and white space; of several equal ones the first counts. The error is
// `Invalid name: <name>`.
Result<Names> parse_names(std::string_view text);

struct Lists {
  Names desired, current;
};
// `Desired[:Current]`.
Result<Lists> parse_lists(std::string_view text);

struct Difference {
  Names added;    // in the order of the desired
  Names removed;  // in the order of the current
};
Difference difference(const Lists& lists);

}  // namespace mnet::cni_node
