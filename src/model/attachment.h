// One network of one container, ready to be attached, checked or removed. Pure.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "cni/args.h"
#include "cni/cache.h"
#include "json/json.h"
#include "model/delegate.h"

namespace mnet::model {

// One network of one container with everything its plugins are run with.
struct Attachment {
  Delegate delegate;
  std::string container_id, netns, ifname;
  cni::ArgPairs args;
  json::Object capability_args;

  cni::CacheKey key() const { return {delegate.cni_name, container_id, ifname}; }
};
using AttachmentPtr = std::shared_ptr<const Attachment>;
using DelegatePtr = std::shared_ptr<const Delegate>;

// The requested name; else for the master CNI_IFNAME, for the others `net<index>`.
std::string interface_name(const Delegate& delegate, std::size_t index,
                           std::string_view cni_ifname);

}  // namespace mnet::model
