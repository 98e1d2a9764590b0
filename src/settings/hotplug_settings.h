// The key `hotplug` of daemon-config.json (05, 3.1).
#pragma once

#include <string>
#include <vector>

#include "json/fields.h"
#include "model/hotplug_settings.h"

namespace mnet::settings {

// `true`, `false` or an object. Unknown members are reported in `warnings`.
void read_hotplug(json::Fields& fields, model::HotplugSettings& out,
                  std::vector<std::string>& warnings);

}  // namespace mnet::settings
