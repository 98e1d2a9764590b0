// What the routes ask of the core (02): attach, or a fake in tests.
#pragma once

#include <optional>

#include "aio/task.h"
#include "attach/attach.h"
#include "cni/result.h"
#include "wire/wire.h"

namespace mnet::daemon {

// One network more, or one less, for a container that runs (03, 2.10). `request.config` is the
// delegate's own configuration, `settings` is the daemon's document over the core's defaults.
struct DynamicRequest {
  attach::Request request;
  std::string settings;
  std::optional<wire::InterfaceAttributes> attributes;
};

class Core {
 public:
  virtual ~Core() = default;

  virtual aio::Task<cni::NetResult> add(attach::Request request) = 0;
  virtual aio::Task<void> del(attach::Request request) = 0;
  virtual aio::Task<void> check(attach::Request request) = 0;
  virtual aio::Task<void> status(attach::Request request) = 0;
  virtual aio::Task<void> gc(attach::Request request) = 0;

  virtual aio::Task<cni::NetResult> add_dynamic(DynamicRequest request) = 0;
  virtual aio::Task<void> del_dynamic(DynamicRequest request) = 0;
  virtual aio::Task<void> check_dynamic(DynamicRequest request) = 0;
  virtual aio::Task<void> status_dynamic(DynamicRequest request) = 0;
};

}  // namespace mnet::daemon
