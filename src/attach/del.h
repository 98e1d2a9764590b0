// One DEL, from the lock on its container to the answer (02, 6).
#pragma once

#include <vector>

#include "aio/task.h"
#include "attach/core.h"
#include "attach/record.h"
#include "attach/remove.h"

namespace mnet::attach {

class Deleting {
 public:
  // Both must outlive it. The container's lock is held while run() runs.
  Deleting(const Core& core, const Job& job) : core_(core), job_(job), book_(core, job) {}

  // An error only if the runtime shall try again, with code 11.
  aio::Task<void> run();

  // The same for GC: every error counts, and both files go if there is none.
  aio::Task<void> run_stale();

 private:
  aio::asio::awaitable<void> note_readiness();
  aio::asio::awaitable<void> delete_unrecorded();
  aio::Task<void> conclude(Record record, Removal removal);
  aio::Task<void> keep_rest(Record record, Removal removal);

  const Core& core_;
  const Job& job_;
  Book book_;
};

}  // namespace mnet::attach
