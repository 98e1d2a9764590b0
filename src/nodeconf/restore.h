// Giving the node's CNI configuration back to the primary (03, 2.1, `-uninstall`; 06, pain 19).
// Blocks.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace mnet::nodeconf {

struct RestoreOptions {
  std::string cni_config_dir;  // the runtime's
  std::string own_file;        // ours there; what it names as clusterNetwork is the primary
  std::string autoconfig_dir;  // where the primary is looked for otherwise
  std::string own_type;        // of our own configurations
};

// Makes sure that the runtime finds a primary in its directory once our file is gone: one that is
// there, else a copy of the primary from its own directory, else one that was renamed to
// `<name>.old`. Yields what it is and where from, for people. kNotFound if there is none.
Result<std::string> restore_primary(const RestoreOptions& options);

// Other configurations in the runtime's directory that name Multus, at any depth: left to their
// owners, but a runtime that takes one calls a plugin that is gone.
std::vector<std::string> other_multus_configs(const RestoreOptions& options);

}  // namespace mnet::nodeconf
