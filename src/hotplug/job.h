// One hot-plug request as read and checked. Pure. Internal to hotplug.
#pragma once

#include <memory>
#include <string>

#include "attach/core.h"
#include "attach/room.h"
#include "base/result.h"
#include "hotplug/hotplug.h"
#include "model/delegate.h"

namespace mnet::hotplug {

struct Job {
  attach::Job base;          // its configuration holds the core's settings
  model::Delegate delegate;  // of the request's own configuration, with the requested attributes
  // The hash of the configuration without a `cniVersion` that was filled in on its way here (03,
  // 2.10): a definition's hash does not cover it.
  std::string unfilled_hash;
  // Asked for by an edit of the pod's annotation, not by a client: the network status is written
  // once for all networks of a pass, and the record says that it lags behind (05, 3.8).
  bool is_by_annotation = false;
  bool auto_name = false;  // of the annotation: it names no interface
};

// `verb` is ADD, DEL, CHECK or STATUS; `room` is held for it.
Result<Job> read_job(Request request, attach::Verb verb, std::shared_ptr<attach::HeldRoom> room);

}  // namespace mnet::hotplug
