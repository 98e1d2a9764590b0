// One CHECK (02, 7.1; 05, 3.11).
#pragma once

#include "aio/task.h"
#include "attach/container_records.h"
#include "attach/core.h"

namespace mnet::attach {

class Checking {
 public:
  // Both must outlive it. The container's lock is held while run() runs.
  Checking(const Core& core, const Job& job) : core_(core), job_(job), access_(core, job) {}

  // The first error ends it and keeps its code; a caller that left ends it too.
  aio::Task<void> run();

 private:
  aio::Task<void> check_plugged_in(ContainerRecords record);
  aio::Task<void> check_one(model::AttachmentPtr attachment);

  const Core& core_;
  const Job& job_;
  RecordAccess access_;
};

}  // namespace mnet::attach
