// From configuration and pod to delegates (02, 3): the inline ones, or the cluster network and the
// default networks; what the pod's annotations put in place of the first and after them; the
// auxiliary chain. With the pod's devices and selection elements in them, ready to be planned.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/core.h"
#include "attach/network_finder.h"
#include "attach/resource_map.h"
#include "attach/source.h"
#include "model/default_routes.h"
#include "model/delegate.h"
#include "model/requested_networks.h"

namespace mnet::attach {

class Resolver {
 public:
  // Both must outlive it, and it must outlive its tasks. Without a pod there are no annotations
  // and no events. At the deadline it gives up what the object source still reads. `reads`: what
  // several of them may read together; must outlive it.
  Resolver(const Core& core, const Job& job, model::PodObjectPtr pod = nullptr,
           aio::Deadline reads_end = aio::kNoDeadline, LiveReads* reads = nullptr)
      : core_(core),
        job_(job),
        pod_(std::move(pod)),
        reads_end_(reads_end),
        finder_(core, job, reads_end, reads) {}

  struct Resolved {
    std::vector<model::Delegate> delegates;  // the master first
    model::RoutePlan routes;
  };
  // All that configuration and pod give this request's container. Looks for all networks at once.
  // Errors carry the texts of 02, 0.4 that say which part failed, but no `Multus: ` prefix; events
  // tell the pod of them.
  aio::Task<Resolved> resolve();

  // The same for a DEL without a record: each network on its own, in its place. One that cannot be
  // had counts as removed, so that the others keep their interface names; that is logged, and no
  // event is sent. Without the override the cluster network is the master.
  aio::asio::awaitable<std::vector<model::Delegate>> resolve_each();

  // One network that the pod's annotation selects for a container that runs. `used`: ids of devices
  // that its other networks have.
  aio::Task<model::Delegate> select(model::NetworkSelectionElement element,
                                    std::set<std::string> used);

  // Only the network whose result the runtime gets. This and the next two use no pod, no device and
  // no event.
  aio::Task<model::Delegate> master();
  // The inline delegates; if there are none, the master alone.
  aio::Task<std::vector<model::Delegate>> configured();
  // `defaultNetworks`, whatever the namespace.
  aio::Task<std::vector<model::Delegate>> default_networks();

 private:
  using Found = NetworkFinder::Found;

  // Before the annotations are read: all the room that there is for a request, if they are long.
  aio::Task<void> take_room_for_annotations();
  aio::Task<void> read_whole_pod();
  aio::Task<std::vector<model::RequestedNetwork>> wanted();
  // The same, and room for all of them.
  aio::Task<std::vector<model::RequestedNetwork>> wanted_with_room();
  // How much room these networks need; an error if they are too large for one request.
  Result<std::size_t> weigh(const std::vector<model::RequestedNetwork>& networks);
  aio::Task<std::vector<Found>> find_all(std::vector<model::RequestedNetwork> networks);
  aio::Task<std::vector<model::Delegate>> complete(std::vector<Found> found);
  // `devices` must outlive the task.
  aio::Task<model::Delegate> complete_one(Found one, ResourceMap* devices);
  // Whether the element names a device that must be the pod's.
  bool is_device_judged(const Found& one) const;
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
  const aio::Deadline reads_end_;
  NetworkFinder finder_;
  bool is_whole_ = false;  // resolve(), not a part of it
  bool is_told_ = false;   // the pod, by who asked: select() may be asked again and again
};

}  // namespace mnet::attach
