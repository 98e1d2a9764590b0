#include "groups.h"

#include <string_view>
#include <utility>
#include <vector>

namespace mnet::vectors {
namespace {

// Skipped as a whole. A name leaves this list when its group is answered.
constexpr std::string_view kUnanswered[] = {
    "devices",
};

}  // namespace

std::vector<Group> all_groups() {
  std::vector<Group> groups;
  groups.push_back(autoconfig_group());
  groups.push_back(cni_result_group());
  groups.push_back(conflist_load_group());
  groups.push_back(csr_group());
  groups.push_back(delegate_conf_group());
  groups.push_back(gateway_cache_group());
  groups.push_back(nad_config_group());
  groups.push_back(netconf_group());
  groups.push_back(network_selection_group());
  groups.push_back(network_status_group());
  groups.push_back(runtime_config_group());
  groups.push_back(server_request_group());
  groups.push_back(skel_group());
  for (const std::string_view name : kUnanswered) {
    Group group;
    group.name = name;
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace mnet::vectors
