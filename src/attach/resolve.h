// From configuration and pod to delegates (02, 3): the inline ones, or the cluster network and the
// default networks; what the pod's annotations put in place of the first and behind them; the
// auxiliary chain.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aio/task.h"
#include "attach/core.h"
#include "attach/delegate.h"

namespace mnet::attach {

class Resolver {
 public:
  // Both must outlive it, and it the tasks it gives.
  Resolver(const Core& core, const Job& job) : core_(core), job_(job) {}

  // All that the configuration gives this request's container, the master first.
  aio::Task<std::vector<Delegate>> delegates();
  // Only the network that answers the runtime.
  aio::Task<Delegate> master();
  // `defaultNetworks`, whatever the namespace.
  aio::Task<std::vector<Delegate>> default_networks();

 private:
  aio::Task<Delegate> look_up(std::string network);
  // None if there is no such chain, or none that can be used.
  aio::Task<std::optional<Delegate>> auxiliary_chain();

  const Core& core_;
  const Job& job_;
};

}  // namespace mnet::attach
