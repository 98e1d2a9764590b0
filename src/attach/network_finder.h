// Finds the configurations of requested networks (02, 3.3): given inline, by path, by definition,
// or by CNI name in the configuration directory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "aio/task.h"
#include "attach/core.h"
#include "attach/room.h"
#include "attach/source.h"
#include "base/result.h"
#include "model/delegate.h"
#include "model/inject.h"
#include "model/objects.h"
#include "model/requested_networks.h"

namespace mnet::attach {

// Values in all configurations of one request (json/count.h): a megabyte of zeros would take 150.
inline constexpr std::size_t kMaxDefinitionValues = 10'000;

// Of definitions and of the `cni-args` that go into each of their plugins: no more values than
// that, and kLargestWeight in all.
Result<void> check_weight(const model::Weight& weight);

// Whether a configured network is a path, not a name.
inline bool is_path(std::string_view network) { return network.contains('/'); }

class NetworkFinder {
 public:
  // Both must outlive it, and it must outlive its tasks. At the deadline it gives up what the
  // object source still reads.
  // `reads`: shared with others; nullptr: of its own.
  NetworkFinder(const Core& core, const Job& job, aio::Deadline reads_end,
                LiveReads* reads = nullptr)
      : core_(core),
        job_(job),
        own_reads_(reads_end,
                   job.verb == Verb::kDel ? LiveReads::Others::kGoOn : LiveReads::Others::kEnd,
                   job.pod.ns, job.request.id),
        reads_(reads == nullptr ? own_reads_ : *reads) {}

  // A network that was found, not yet given its device and selection element.
  struct Found {
    model::RequestedNetwork wanted;
    model::Delegate delegate;
    std::string resource_name = {};  // of its definition; empty: none, or no definition
  };
  // Looks for them side by side, some at a time; yields what became of each, in their order.
  // kNotFound: there is no such definition or file. Multus itself is refused as a delegate; so is
  // what a pod selects, if `allowedPluginTypes` does not name its types.
  aio::asio::awaitable<std::vector<Result<Found>>> find_all(
      std::vector<model::RequestedNetwork> networks);

  // What all of these weigh, as far as the object source knows. What is not a definition is the
  // administrator's and weighs nothing.
  model::Weight weigh(const std::vector<model::RequestedNetwork>& networks) const;
  // More weight than was announced: an error that passes, since the next attempt knows better.
  void expect(std::size_t weight) { expected_ = weight; }

 private:
  aio::Task<Found> find(model::RequestedNetwork wanted);
  aio::Task<Found> find_configured(model::RequestedNetwork wanted);
  aio::Task<Found> find_by_name(model::RequestedNetwork wanted);
  aio::Task<Found> find_selected(model::RequestedNetwork wanted);
  aio::Task<Found> load(model::RequestedNetwork wanted, model::NetworkDefinitionPtr definition);
  Result<void> take_in(model::Weight weight);
  aio::Task<model::Delegate> load_delegate(model::NetworkDefinitionPtr definition);

  const Core& core_;
  const Job& job_;
  LiveReads own_reads_;
  LiveReads& reads_;        // of all its lookups
  model::Weight taken_in_;  // of all configurations so far
  std::size_t expected_ = kLargestWeight;
};

}  // namespace mnet::attach
