// One network more, or one less, for a container that runs: what /delegate asks for (02, 5.9;
// 05, 2). Its records are the attachment record and the result cache; the scratch file is touched
// only when a network that it lists goes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aio/task.h"
#include "attach/container_records.h"
#include "attach/containers.h"
#include "attach/core.h"
#include "attach/remove.h"
#include "attach/source.h"
#include "chain/chain.h"
#include "cni/result.h"
#include "model/attachment_record.h"

namespace mnet::attach {

// One request as read and checked.
struct DynamicJob {
  Job job;                   // its configuration holds the core's settings
  model::Delegate delegate;  // of the request's own configuration, what is wished of it included
  // Its hash if the `cniVersion` was filled in on its way (03, 2.10); a definition's is not.
  std::string unfilled_hash;
};

// `verb` is ADD, DEL, CHECK or STATUS.
Result<DynamicJob> read_dynamic_job(DynamicRequest request, Verb verb, const Log& log);

class Dynamic {
 public:
  // The core must outlive it. But for status(), the container's lock is held while its tasks run.
  Dynamic(Core& core, DynamicJob what);
  Dynamic(const Dynamic&) = delete;
  Dynamic& operator=(const Dynamic&) = delete;

  // One that is recorded already with the same network, configuration and attributes is answered
  // from the record (R3).
  aio::Task<cni::NetResult> add(Containers::RunningAdd& running);
  // Every error is told: no sandbox waits to go away.
  aio::Task<void> del();
  aio::Task<void> check();
  aio::Task<void> status();

 private:
  const std::string& ifname() const { return job_.request.ifname; }
  // The pod that the request names; none for a container that is no pod, or where a pod need not
  // have an object.
  aio::Task<void> find_pod();
  aio::Task<void> load();

  // ADD.
  aio::Task<std::optional<cni::NetResult>> settle_recorded();
  bool is_the_same(const model::RecordedAttachment& there) const;
  aio::Task<void> clear_away();
  aio::Task<void> expect_free();
  aio::Task<cni::NetResult> attach();
  aio::Task<cni::NetResult> run_add();
  aio::Task<void> undo();
  void announce(const cni::NetResult& result);

  // DEL.
  bool is_part_of_another() const;
  aio::Task<void> remove_recorded();
  aio::Task<void> unlist();
  aio::Task<void> run_del(model::AttachmentPtr attachment);

  // Nothing of a container that has nothing left, and never had an ADD of its own.
  aio::Task<void> write_attachment_record() {
    const bool is_empty = attachment_record_.attachments.empty() && !record_.has_file;
    return is_empty ? access_.remove() : access_.write_attachment_record(attachment_record_);
  }
  void drop();

  // Where nobody else keeps the network status, we do (0018); it never fails a request.
  bool keeps_status() const;
  aio::Task<void> add_status(cni::NetResult result);
  aio::Task<void> drop_status(model::RecordedAttachment removed);
  void note_status(const Result<void>& kept) const;

  Error failed(const Error& error) const;

  Core& core_;
  Job job_;
  model::Delegate delegate_;
  std::string unfilled_hash_;
  RecordAccess access_;
  model::PodObjectPtr pod_;
  ContainerRecords record_;
  model::AttachmentRecord attachment_record_;
  model::AttachmentPtr attachment_;  // what ADD runs
};

}  // namespace mnet::attach
