// One entry of the result cache (01, 6), and the key by which it is found.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cni/args.h"
#include "json/json.h"

namespace mnet::cni {

struct CacheEntry {
  std::string container_id, network, ifname, netns, config;
  ArgPairs cni_args;
  json::Object capability_args;
  std::optional<json::Value> result;
};

// What a DEL needs of an entry.
struct CachedResult {
  json::Value result;
  // The DELs of the plugins from this place of the list on succeeded: what is left is before it.
  std::optional<std::size_t> deleted_from = {};
};

// The entries of one container, without what tenants make large: the sum over a node has no bound.
struct CachedContainer {
  std::string container_id, netns;
  ArgPairs cni_args;  // this and `netns`: as its first entry has them
  struct Attachment {
    std::string network, ifname;
    bool operator==(const Attachment&) const = default;
  };
  std::vector<Attachment> attachments;  // in byte order of their file names; at least one
};

struct CacheKey {
  std::string network, container_id, ifname;
};

}  // namespace mnet::cni
