// One network of one container, ready to be attached, checked or removed. Pure.
#pragma once

#include <memory>
#include <string>

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

}  // namespace mnet::model
