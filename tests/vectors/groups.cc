#include "groups.h"

#include <vector>

namespace mnet::vectors {

std::vector<Group> all_groups() {
  std::vector<Group> groups;
  groups.push_back(autoconfig_group());
  groups.push_back(cni_result_group());
  groups.push_back(conflist_load_group());
  groups.push_back(csr_group());
  groups.push_back(delegate_conf_group());
  groups.push_back(devices_group());
  groups.push_back(gateway_cache_group());
  groups.push_back(nad_config_group());
  groups.push_back(netconf_group());
  groups.push_back(network_selection_group());
  groups.push_back(network_status_group());
  groups.push_back(runtime_config_group());
  groups.push_back(server_request_group());
  groups.push_back(skel_group());
  return groups;
}

}  // namespace mnet::vectors
