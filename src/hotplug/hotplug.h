// Hot-plug: adds a network to a running container, or removes one, as a client of /delegate asks
// (02, 5.9; 03, 2.10; 05, 2). It works on the attachment record and the result cache; the scratch
// file changes only when a network that it lists goes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aio/task.h"
#include "attach/attach.h"
#include "attach/request.h"
#include "attach/room.h"
#include "cni/result.h"
#include "json/json.h"

namespace mnet::hotplug {

struct Request {
  attach::Request request;  // its configuration holds the settings: binDir, cniDir and so on
  std::string config;       // the delegate's
  // Attributes of the network, for ADD only. An empty one is not requested.
  std::vector<std::string> ips;
  std::string mac;
  std::optional<json::Object> cni_args;
};

// Requests wait their turn with all others of the same container. Every failure is an error (05,
// 2).
class Hotplug {
 public:
  // `attachments` must outlive it. Must not be destroyed while one of its tasks runs.
  explicit Hotplug(attach::Attachments& attachments) : core_(&attachments.core()) {}
  virtual ~Hotplug() = default;

  // If the interface is recorded with the same network, configuration and attributes, the
  // attachment record gives the answer (R3).
  virtual aio::Task<cni::NetResult> add(Request request);
  virtual aio::Task<void> del(Request request);
  virtual aio::Task<void> check(Request request);
  virtual aio::Task<void> status(Request request);

 protected:
  Hotplug() = default;  // for fakes, which override all of the above

 private:
  struct Locked;

  // Waits for the container's turn, then reads the request.
  aio::Task<Locked> lock(Request request, attach::Verb verb);
  // Taken once we have the container's turn, as every request does it: two requests that took room
  // and turn in different orders would wait for each other.
  aio::Task<std::shared_ptr<attach::HeldRoom>> take_room(const Request& request, attach::Verb verb);

  attach::Core* core_ = nullptr;
};

}  // namespace mnet::hotplug
