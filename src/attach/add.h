// One ADD, from the lock on its container to the answer (02, 5.1).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aio/task.h"
#include "attach/container_records.h"
#include "attach/containers.h"
#include "attach/core.h"
#include "attach/source.h"
#include "chain/chain.h"
#include "cni/result.h"
#include "model/attachment_record.h"
#include "model/default_routes.h"
#include "model/network_status.h"
#include "model/parallel.h"

namespace mnet::attach {

class Adding {
 public:
  // All must outlive it. The container's lock is held while run() runs.
  Adding(Core& core, const Job& job, Containers::RunningAdd& running);

  aio::Task<cni::NetResult> run();

 private:
  // The steps that change nothing.
  aio::Task<void> await_readiness();
  // False if the pod is no more: then there is nothing to attach to.
  aio::Task<bool> fetch_pod();
  aio::Task<void> plan();
  // No link has one of the names of these attachments.
  aio::Task<void> expect_free(model::Batch batch);
  std::vector<std::string> names_of(model::Batch batch) const;
  Result<void> all_free(const TakenNames& seen, model::Batch batch) const;
  Error with_name(Error error, std::size_t index) const;

  // An ADD that was here before: its result if it still stands; none once nothing is left of it.
  aio::Task<std::optional<cni::NetResult>> settle_earlier_add();
  aio::Task<bool> still_stands(ContainerRecords record);
  aio::Task<cni::NetResult> answer_again(ContainerRecords record);
  aio::Task<void> report_again(ContainerRecords record);
  aio::Task<std::vector<model::NetworkStatus>> append_status(std::vector<model::NetworkStatus> all,
                                                             std::string name, bool is_master,
                                                             json::Value result,
                                                             json::Object capability_args);
  aio::Task<void> clear_away(ContainerRecords record);

  // The steps that must be undone.
  aio::Task<void> begin();
  aio::Task<void> attach();
  aio::Task<void> build();
  aio::Task<void> attach_batch(model::Batch batch);
  aio::Task<void> attach_one(std::size_t index);
  aio::Task<void> add_one(std::size_t index);
  aio::Task<void> settle(std::size_t index);
  aio::Task<void> settle_conditional_routes();
  aio::Task<void> edit_routes(std::size_t index, model::RouteEdit edit);
  aio::Task<void> report();
  aio::Task<void> write_status(std::vector<model::NetworkStatus> statuses);
  aio::Task<void> end();
  aio::Task<void> undo();
  // Whether nothing is done between the last result and the end of the ADD.
  bool ends_with_result() const { return pod_ == nullptr && routes_.is_empty(); }
  AddStart::Notes first_notes(const NetnsId& netns) const;
  AddEnd::Notes last_notes() const;

  aio::asio::awaitable<void> copy_device_info(model::AttachmentPtr attachment);
  aio::asio::awaitable<std::optional<json::Object>> find_device_info(json::Object capability_args);
  void send_event(std::size_t index, const cni::NetResult& newest);
  Error with_network(const Error& error, std::size_t index) const;
  bool gone() const { return job_.request.caller->gone(); }

  Core& core_;
  const Job& job_;
  Containers::RunningAdd& running_;
  RecordAccess access_;
  std::shared_ptr<chain::Caller> starter_;  // leaves when no further plugin is to start
  chain::Chain chain_;
  model::PodObjectPtr pod_;  // none: no annotations, no status, no events
  std::vector<model::AttachmentPtr> attachments_;
  model::RoutePlan routes_;
  NetnsId netns_;
  std::optional<std::size_t> last_;  // whose result is written at the end, with the record
  // Of each attachment, once it is there.
  std::vector<cni::NetResult> results_;
  std::vector<std::optional<json::Object>> device_infos_;
  std::vector<bool> touched_;  // which may have left something behind
};

}  // namespace mnet::attach
