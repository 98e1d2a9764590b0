// What conf and conflist share. Inside use.
#pragma once

#include <string>

#include "base/result.h"
#include "cni/conf.h"
#include "json/json.h"

namespace mnet::cni {

// parse_conf for text that is decoded already.
Result<PluginConf> conf_of(std::string bytes, json::Value document);

}  // namespace mnet::cni
