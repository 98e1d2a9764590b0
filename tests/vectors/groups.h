// All groups, one function per group_*.cc.
#pragma once

#include <vector>

#include "group.h"  // IWYU pragma: export

namespace mnet::vectors {

Group autoconfig_group();
Group cni_result_group();
Group conflist_load_group();
Group csr_group();
Group delegate_conf_group();
Group devices_group();
Group gateway_cache_group();
Group nad_config_group();
Group netconf_group();
Group network_selection_group();
Group network_status_group();
Group runtime_config_group();
Group server_request_group();
Group skel_group();

std::vector<Group> all_groups();

}  // namespace mnet::vectors
