// What others get to see of an ADD: the event and the log line of each interface (02, 5.6 and 9),
// the network status with its device information (02, 4.6 and 5.7), and the answer for a pod that
// no longer exists (02, 5.3).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/core.h"
#include "attach/room.h"
#include "attach/source.h"
#include "chain/chain.h"
#include "cni/result.h"
#include "json/json.h"
#include "model/network_status.h"

namespace mnet::attach {

// The line that tools search for (02, 9). `pod` may be missing.
void log_added(const Job& job, const model::PodObjectPtr& pod, const model::Attachment& attachment,
               const cni::NetResult& result);

// A network that was attached, with its result in the newest form.
struct AddedInterface {
  model::AttachmentPtr attachment;
  cni::NetResult newest;
};

// Reports to the pod, if there is one.
class Reporter {
 public:
  // Core and job must outlive it, and it must outlive its tasks.
  Reporter(const Core& core, const Job& job, model::PodObjectPtr pod)
      : core_(core), job_(job), pod_(std::move(pod)) {}

  // One event for all: `Add eth0 [10.1.1.101/24] from cbr0; Add net1 [] from default/macvlan-conf`.
  void send_added(const std::vector<AddedInterface>& added) const;
  // None if there is no such file, or if it cannot be read: that is logged.
  aio::asio::awaitable<std::optional<json::Object>> find_device_info(json::Object capability_args);
  // The entries of one network. An error if the result cannot be converted.
  Result<std::vector<model::NetworkStatus>> statuses_of(
      const cni::NetResult& result, const std::string& network, bool is_master,
      const std::optional<json::Object>& device_info) const;
  // A log line and an event if something is missing in it.
  void tell_shortcomings(const model::StatusText& status) const;
  // The network status; none if it has no entries. Takes room for it, until it is written or the
  // request ends, and tells its shortcomings.
  aio::Task<std::optional<std::string>> text_of(std::vector<model::NetworkStatus> statuses);
  aio::Task<void> write_status(std::string text);

 private:
  const Core& core_;
  const Job& job_;
  model::PodObjectPtr pod_;
  HeldRoom room_;  // of the status
};

// An empty result that runtimes accept, in `version`; in the newest one if that does not exist.
cni::NetResult result_without_pod(std::string_view version, const std::string& ifname,
                                  const std::string& netns);

}  // namespace mnet::attach
