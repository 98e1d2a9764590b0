// Tells the API what happened to an object that is not a pod: a request, a node.
#pragma once

#include <memory>
#include <string>

#include "aio/task.h"
#include "kube/api.h"

namespace mnet::certs {

// Both kinds are cluster-wide, so their events are in the namespace `default`.
struct Happening {
  std::string kind = {}, api_version = {}, name = {}, uid = {};
  bool is_warning = false;
  std::string reason = {}, message = {};
  std::string component = {};
};

aio::Task<void> post_event(std::shared_ptr<kube::Api> api, Happening what);

}  // namespace mnet::certs
