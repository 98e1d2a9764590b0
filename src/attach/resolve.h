// From configuration and pod to delegates (02, 3): the inline ones, or the cluster network and the
// default networks; what the pod's annotations put in place of the first and behind them; the
// auxiliary chain.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/core.h"
#include "attach/default_routes.h"
#include "attach/delegate.h"
#include "attach/source.h"

namespace mnet::attach {

class Resolver {
 public:
  // Both must outlive it, and it the tasks it gives. Without a pod there are no annotations, no
  // devices and no events.
  Resolver(const Core& core, const Job& job, PodObjectPtr pod = nullptr)
      : core_(core), job_(job), pod_(std::move(pod)) {}

  struct Resolved {
    std::vector<Delegate> delegates;  // the master first
    RoutePlan routes;
  };
  // All that configuration and pod give this request's container. Errors carry the texts of 02, 0.4
  // that say which part failed, but no `Multus: ` prefix.
  aio::Task<Resolved> resolve();
  // Only the network that answers the runtime.
  aio::Task<Delegate> master();
  // `defaultNetworks`, whatever the namespace.
  aio::Task<std::vector<Delegate>> default_networks();

 private:
  aio::Task<Delegate> look_up(std::string network);
  // None if there is no such chain, or none that can be used.
  aio::Task<std::optional<Delegate>> auxiliary_chain();

  aio::Task<std::vector<Delegate>> delegates();

  const Core& core_;
  const Job& job_;
  PodObjectPtr pod_;
};

}  // namespace mnet::attach
