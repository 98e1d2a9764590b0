// One ADD, from the lock on its container to the answer (02, 5.1).
#pragma once

#include <functional>
#include <optional>

#include "aio/task.h"
#include "attach/container_records.h"
#include "attach/containers.h"
#include "attach/core.h"
#include "attach/network_attacher.h"
#include "attach/ports.h"
#include "cni/cache.h"
#include "cni/result.h"
#include "json/json.h"
#include "model/attachment_record.h"

namespace mnet::attach {

class Adding {
 public:
  // All must outlive it. The container's lock is held while run() runs.
  Adding(Core& core, const Job& job, Containers::RunningAdd& running)
      : core_(core), job_(job), running_(running) {}

  aio::Task<cni::NetResult> run();

 private:
  // The steps that change nothing.
  aio::Task<void> await_readiness();
  // False if the pod no longer exists: then there is nothing to attach to.
  aio::Task<bool> fetch_pod();
  aio::Task<void> plan();

  // The steps that must be undone.
  aio::Task<void> begin();
  aio::Task<void> carry_out();
  aio::Task<void> conclude();
  aio::Task<void> end_with_status();
  // Makes all that is remembered durable. Without `record`, the one that begin() wrote stays for
  // now.
  aio::Task<void> end(std::function<json::Object()> record);
  aio::Task<void> undo();
  aio::Task<void> forget_untouched(RecordAccess access);
  std::optional<cni::CacheEntry> last_result() const;
  json::Object last_record() const;
  Result<void> accept(const Result<void>& record) const;
  model::AttachmentRecord record(const NetnsId& netns) const;

  bool gone() const { return job_.request.caller->gone(); }
  Error cancelled() const;

  Core& core_;
  const Job& job_;
  Containers::RunningAdd& running_;
  model::PodObjectPtr pod_;                  // none: no annotations, no status, no events
  std::optional<NetworkAttacher> networks_;  // once they are planned
  NetnsId netns_;
  bool may_owe_ = false;               // the pod does not wait for its status
  std::optional<std::string> status_;  // what is still to be written when the record is complete
};

}  // namespace mnet::attach
