// The daemon's configuration (settings/config.h) under the names that the daemon's code uses.
#pragma once

#include "settings/config.h"  // IWYU pragma: export

namespace mnet::daemon {

using settings::Config;
using settings::config_of;
using settings::load_config;
using settings::parse_config;
using settings::PerNodeCertificate;

}  // namespace mnet::daemon
