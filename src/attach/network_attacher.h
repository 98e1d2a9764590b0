// The middle of an ADD: attaches the networks, batch by batch, and does what follows from each
// result in the order of the list (02, 5.1 steps 7 to 9).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/add_report.h"
#include "attach/core.h"
#include "attach/ports.h"
#include "base/error.h"
#include "chain/chain.h"
#include "cni/result.h"
#include "model/default_routes.h"
#include "model/objects.h"
#include "model/parallel.h"

namespace mnet::attach {

class NetworkAttacher {
 public:
  // Core and job must outlive it. `pod` may be missing.
  NetworkAttacher(const Core& core, const Job& job, const model::PodObjectPtr& pod,
                  std::vector<model::AttachmentPtr> attachments, model::RoutePlan routes);

  // Attaches them all. After a failure no further plugin starts; take_down() undoes the rest.
  aio::Task<void> run();
  // Removes what run() may have left, newest first.
  aio::Task<void> take_down();
  // Interfaces of networks of which no plugin ever ran: there is nothing to remove.
  std::set<std::string> untouched() const;
  // The text of the network status of them all; none if there is no pod, or nothing to say.
  aio::Task<std::optional<std::string>> status();
  aio::Task<void> write_status(std::string text) { return reporter_.write_status(std::move(text)); }
  // One event for all of them.
  void announce() const;

  const std::vector<model::AttachmentPtr>& attachments() const { return attachments_; }
  // In the same order, once run() has succeeded.
  const std::vector<cni::NetResult>& results() const { return results_; }
  // The master's result, out of results().
  cni::NetResult take_answer() { return std::move(results_.front()); }
  // Whose result is not in the result cache yet: it is written at the end, with the record.
  std::optional<std::size_t> unwritten() const { return unwritten_; }
  void set_written() { unwritten_.reset(); }

  model::Batch all() const { return {0, attachments_.size()}; }
  std::vector<std::string> names_of(model::Batch batch) const;
  // No link in the pod's namespace may have one of these names: what is there is not ours, and
  // stays untouched (02-F54).
  Result<void> expect_free(const Result<TakenNames>& seen, model::Batch batch) const;
  Error with_network(const Error& error, std::size_t index) const;

 private:
  aio::Task<void> run_batch(model::Batch batch);
  aio::Task<void> attach_network(std::size_t index);
  aio::Task<void> follow_up(std::size_t index);
  aio::Task<void> settle_conditional_routes();
  aio::Task<void> edit_routes(std::size_t index, model::RouteEdit edit);
  aio::asio::awaitable<void> copy_device_info(model::AttachmentPtr attachment);
  // The error of a plugin, and which other pod has the device that it was given.
  aio::asio::awaitable<Error> with_holder(Error error, model::AttachmentPtr attachment);
  Error with_name(Error error, std::size_t index) const;
  const Core& core_;
  const Job& job_;
  model::PodObjectPtr pod_;
  Reporter reporter_;
  std::shared_ptr<chain::Caller> starter_;  // leaves when no further plugin is to start
  chain::Chain chain_;
  std::vector<model::AttachmentPtr> attachments_;
  model::RoutePlan routes_;
  std::optional<std::size_t> unwritten_;
  // Of each attachment, once it is there.
  std::vector<cni::NetResult> results_;
  std::vector<std::optional<json::Object>> device_infos_;
  std::vector<bool> touched_;  // which may have left something behind
};

}  // namespace mnet::attach
