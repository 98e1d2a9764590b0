// One CHECK (02, 7.1; 05, 3.11).
#pragma once

#include <cstddef>

#include "aio/task.h"
#include "attach/container_records.h"
#include "attach/core.h"
#include "base/error.h"

namespace mnet::attach {

class Checking {
 public:
  // Both must outlive it. The container's lock is held while run() runs.
  Checking(const Core& core, const Job& job) : core_(core), job_(job), access_(core, job) {}

  // The first error of a network that counts ends it and keeps its code; a caller that left ends it
  // too. Yields how many others failed.
  aio::Task<std::size_t> run();

 private:
  aio::Task<void> check_plugged_in(ContainerRecords record);
  aio::Task<void> check_one(model::AttachmentPtr attachment);
  // The same for a network that does not count.
  aio::Task<void> check_and_report(model::AttachmentPtr attachment);
  aio::asio::awaitable<void> report(model::AttachmentPtr attachment, Error error);
  // Whether the network in this place of the list fails the pod.
  bool counts(std::size_t index) const;

  const Core& core_;
  const Job& job_;
  RecordAccess access_;
  std::size_t reported_ = 0;
};

}  // namespace mnet::attach
