// One DEL, from the lock on its container to the answer (02, 6; 05, 3.11).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "aio/task.h"
#include "attach/attach.h"
#include "attach/container_records.h"
#include "attach/core.h"
#include "attach/remove.h"
#include "attach/source.h"
#include "json/json.h"
#include "model/attachment.h"
#include "model/attachment_record.h"

namespace mnet::attach {

class Deleting {
 public:
  // Both must outlive it. The container's lock is held while run() runs.
  Deleting(const Core& core, const Job& job) : core_(core), job_(job), access_(core, job) {}

  // An error, with code 11, only where the machine lacks the means to delete just now.
  aio::Task<DelOutcome> run();

  // The same for GC: every error counts, and both files go if there is none.
  aio::Task<void> run_stale(DelRule::IsGone is_gone);

 private:
  aio::asio::awaitable<void> note_readiness();
  aio::asio::awaitable<void> delete_unrecorded();
  aio::Task<std::vector<model::Delegate>> rebuild();
  aio::asio::awaitable<model::PodObjectPtr> find_pod(aio::Deadline deadline);
  // Results that the attachment record has and the result cache has not.
  struct LostResult {
    model::AttachmentPtr attachment;
    json::Value result;
  };
  std::vector<LostResult> lost_results(const ContainerRecords& record) const;
  aio::asio::awaitable<void> restore(std::vector<LostResult> lost);
  aio::Task<DelOutcome> conclude(ContainerRecords record, Removal removal);
  Error try_again(const Error& error) const;
  // Whether a pending DEL will repeat it.
  aio::asio::awaitable<bool> keep_pending(Error why);
  aio::Task<bool> keep_rest(Removal removal, bool is_pending);
  aio::asio::awaitable<void> keep_record(model::AttachmentRecord attachment_record,
                                         std::set<std::string> gone);

  const Core& core_;
  const Job& job_;
  RecordAccess access_;
};

}  // namespace mnet::attach
