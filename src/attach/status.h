// One STATUS (02, 7.2): whether an ADD could be served now. Never waits for anything.
#pragma once

#include "aio/task.h"
#include "attach/core.h"

namespace mnet::attach {

class AskingStatus {
 public:
  // Both must outlive it.
  AskingStatus(const Core& core, const Job& job) : core_(core), job_(job) {}

  // Code 50 if the node is not ready; else what the master's plugins say, unchanged.
  aio::Task<void> run();

 private:
  const Core& core_;
  const Job& job_;
};

}  // namespace mnet::attach
