// What conf and conflist share. Internal.
#pragma once

#include <string>

#include "base/result.h"
#include "cni/conf.h"
#include "json/json.h"

namespace mnet::cni {

// parse_conf() for text that is already decoded.
Result<PluginConf> conf_of(std::string bytes, json::Value document);

}  // namespace mnet::cni
