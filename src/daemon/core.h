// What the routes ask of the core (02): attach and hotplug, or a fake in tests.
#pragma once

#include "aio/task.h"
#include "attach/attach.h"
#include "cni/result.h"
#include "hotplug/hotplug.h"

namespace mnet::daemon {

class Core {
 public:
  virtual ~Core() = default;

  virtual aio::Task<cni::NetResult> add(attach::Request request) = 0;
  virtual aio::Task<attach::DelOutcome> del(attach::Request request) = 0;
  virtual aio::Task<void> check(attach::Request request) = 0;
  virtual aio::Task<void> status(attach::Request request) = 0;
  virtual aio::Task<void> gc(attach::Request request) = 0;

  virtual aio::Task<cni::NetResult> add_dynamic(hotplug::Request request) = 0;
  virtual aio::Task<void> del_dynamic(hotplug::Request request) = 0;
  virtual aio::Task<void> check_dynamic(hotplug::Request request) = 0;
  virtual aio::Task<void> status_dynamic(hotplug::Request request) = 0;
};

}  // namespace mnet::daemon
