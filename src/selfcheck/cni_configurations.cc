#include "selfcheck/cni_configurations.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "nodeconf/restore.h"
#include "selfcheck/finding.h"
#include "sys/file.h"

namespace mnet::selfcheck {
namespace {

// As libcni chooses them.
bool is_configuration(std::string_view name) {
  return name.ends_with(".conf") || name.ends_with(".conflist") || name.ends_with(".json");
}

Finding in_the_way(const std::string& path, const std::string& own_file, bool is_multus) {
  return {.severity = Severity::kError,
          .check = kCniConfigurations,
          .what = cat(path, is_multus ? " is another Multus configuration and" : "",
                      " sorts before ", own_file),
          .why = is_multus ? "The runtime uses it instead of ours: pods are attached by an "
                             "installation that may be gone"
                           : "The runtime uses it instead of ours: pods get no further networks",
          .advice = "Remove the file, or rename it so that it sorts later"};
}

Finding left_behind(const std::string& path) {
  return {.severity = Severity::kWarning,
          .check = kCniConfigurations,
          .what = cat(path, " is another Multus configuration"),
          .why = "The runtime uses it whenever ours is missing",
          .advice = "Remove it if no other Multus is installed on this node"};
}

}  // namespace

Findings check_cni_configurations(const nodeconf::RestoreOptions& where) {
  const auto entries = sys::list_directory(where.cni_config_dir);
  if (!entries) return {};  // check_folder() says so
  const auto multus = nodeconf::other_multus_configs(where);
  Findings found;
  for (const sys::Entry& entry : *entries) {
    if (entry.kind == sys::EntryKind::kDirectory || !is_configuration(entry.name)) continue;
    const std::string path = cat(where.cni_config_dir, "/", entry.name);
    const bool is_multus = std::ranges::find(multus, path) != multus.end();
    if (path < where.own_file) {
      found.push_back(in_the_way(path, where.own_file, is_multus));
    } else if (is_multus && path != where.own_file) {
      found.push_back(left_behind(path));
    }
  }
  return found;
}

}  // namespace mnet::selfcheck
