// One ADD, from the lock on its container to the answer (02, 5.1).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "aio/task.h"
#include "attach/chain.h"
#include "attach/containers.h"
#include "attach/core.h"
#include "attach/record.h"
#include "cni/result.h"

namespace mnet::attach {

class Adding {
 public:
  // All must outlive it. The container's lock is held while run() runs.
  Adding(Core& core, const Job& job, Containers::Add& books);

  aio::Task<cni::NetResult> run();

 private:
  // The steps that change nothing.
  aio::Task<void> await_readiness();
  aio::Task<void> plan();
  aio::Task<void> expect_free(std::size_t first, std::size_t count);

  // An ADD that was here before: its result if it still stands; none once nothing is left of it.
  aio::Task<std::optional<cni::NetResult>> settle_earlier_add();
  aio::Task<bool> still_stands(Record record);
  aio::Task<void> clear_away(Record record);

  // The steps that must be undone.
  aio::Task<void> attach();
  aio::Task<void> attach_all();
  aio::Task<void> attach_one(std::size_t index);
  aio::Task<void> sync_results();
  aio::Task<void> undo();

  Error with_network(Error error, std::size_t index) const;

  Core& core_;
  const Job& job_;
  Containers::Add& books_;
  Book book_;
  Chain chain_;
  std::vector<AttachmentPtr> attachments_;
  std::vector<cni::NetResult> results_;  // of those that succeeded, in order
  std::size_t touched_ = 0;              // how many may have left something behind
};

}  // namespace mnet::attach
