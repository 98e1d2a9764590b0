// Finds mistakes in network definitions, pods and the workloads that make them, the daemon's
// configuration and CNI configuration files, before a pod meets them. Pure: texts in,
// findings out. Where the daemon has a parser, lint uses it, so it refuses what the daemon
// refuses.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lint/finding.h"
#include "lint/text.h"

namespace mnet::lint {

struct Options {
  // The names of the installed plugins, and where they are; none: not known.
  std::optional<std::set<std::string, std::less<>>> plugins = {};
  std::string plugins_from = {};  // for messages: /opt/cni/bin
  std::string ns = "default";     // of objects that name no namespace
  // Whether the files hold every definition that exists, as those of a cluster do.
  bool has_all_definitions = false;
};

// In order of file, line and column.
std::vector<Finding> lint(const std::vector<FilePtr>& files, const Options& options);

}  // namespace mnet::lint
