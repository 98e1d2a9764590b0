// One entry of the result cache (01, 6), and the key by which it is found.
#pragma once

#include <optional>
#include <string>

#include "cni/args.h"
#include "json/json.h"

namespace mnet::cni {

struct CacheEntry {
  std::string container_id, network, ifname, netns, config;
  ArgPairs cni_args;
  json::Object capability_args;
  std::optional<json::Value> result;
};

struct CacheKey {
  std::string network, container_id, ifname;
};

}  // namespace mnet::cni
