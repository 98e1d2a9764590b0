// From configuration and pod to delegates (02, 3): the inline ones, or the cluster network and the
// default networks; what the pod's annotations put in place of the first and after them; the
// auxiliary chain. With the pod's devices and selection elements in them, ready to be planned.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/core.h"
#include "attach/network_finder.h"
#include "attach/source.h"
#include "model/default_routes.h"
#include "model/delegate.h"
#include "model/requested_networks.h"

namespace mnet::attach {

class Resolver {
 public:
  // Both must outlive it, and it must outlive its tasks. Without a pod there are no annotations
  // and no events.
  Resolver(const Core& core, const Job& job, model::PodObjectPtr pod = nullptr)
      : core_(core), job_(job), pod_(std::move(pod)), finder_(core, job) {}

  struct Resolved {
    std::vector<model::Delegate> delegates;  // the master first
    model::RoutePlan routes;
  };
  // All that configuration and pod give this request's container. Looks for all networks at once.
  // Errors carry the texts of 02, 0.4 that say which part failed, but no `Multus: ` prefix; events
  // tell the pod of them.
  aio::Task<Resolved> resolve();

  // Only the network whose result the runtime gets. This and the next two use no pod, no device and
  // no event.
  aio::Task<model::Delegate> master();
  // The inline delegates; if there are none, the master alone.
  aio::Task<std::vector<model::Delegate>> configured();
  // `defaultNetworks`, whatever the namespace.
  aio::Task<std::vector<model::Delegate>> default_networks();

 private:
  using Found = NetworkFinder::Found;

  aio::Task<std::vector<model::RequestedNetwork>> wanted();
  aio::Task<std::vector<Found>> find_all(std::vector<model::RequestedNetwork> networks);
  aio::Task<std::vector<model::Delegate>> complete(std::vector<Found> found);
  aio::Task<std::vector<model::Delegate>> only(std::vector<model::RequestedNetwork> networks);
  // None if there is no such chain, or none that can be used.
  aio::Task<std::optional<model::Delegate>> auxiliary_chain();

  // The pod that may have devices, even if it has no object; none outside of resolve().
  model::PodObjectPtr device_owner() const;
  // Adds to the error which network was looked for.
  Error explained(Error error, const model::RequestedNetwork& wanted) const;
  void warn_of_ifname(const model::NetworkSelectionElement& default_network) const;
  void warn_pod(std::string reason, std::string message) const;
  void tell_of_failures(const std::vector<model::RequestedNetwork>& wanted,
                        const std::vector<Result<Found>>& found) const;

  const Core& core_;
  const Job& job_;
  model::PodObjectPtr pod_;
  NetworkFinder finder_;
  bool is_whole_ = false;  // resolve(), not a part of it
};

}  // namespace mnet::attach
