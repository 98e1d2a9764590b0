// Finds mistakes in network definitions, pods and the workloads that make them, the daemon's
// configuration and CNI configuration files, before a pod meets them. Pure: texts in, findings out.
// What can be read is read by the parsers that the daemon uses, so what is refused here is refused
// there.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lint/finding.h"
#include "lint/text.h"

namespace mnet::lint {

struct Options {
  // The names of the plugins that there are, and where; none: not known.
  std::optional<std::set<std::string, std::less<>>> plugins = {};
  std::string plugins_from = {};  // for messages: /opt/cni/bin
  // Whether the files hold all definitions that there are, as those of a cluster do.
  bool has_all_definitions = false;
};

// In order of file, line and column.
std::vector<Finding> lint(const std::vector<FilePtr>& files, const Options& options);

}  // namespace mnet::lint
