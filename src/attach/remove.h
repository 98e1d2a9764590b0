// Removes networks of one container, for DEL, rollback and GC alike (02, 5.5, 6.3).
#pragma once

#include <cstddef>
#include <vector>

#include "aio/task.h"
#include "attach/core.h"
#include "attach/ports.h"
#include "base/error_list.h"
#include "base/result.h"
#include "chain/chain.h"

namespace mnet::attach {

struct Removal {
  ErrorList errors;  // of DELs that failed
  // Of DELs that succeeded without the cached result, which could not be read: another DEL must
  // follow.
  ErrorList unread;
  std::vector<model::AttachmentPtr> removed;  // whose DEL succeeded

  // An error unless all are gone.
  Result<void> complete() const;
};

class Remover {
 public:
  // All must outlive it, and it must outlive its tasks.
  Remover(const Core& core, const Job& job) : Remover(core, job, job.request.rule, {}) {}
  Remover(const Core& core, const Job& job, DelRule* rule, DelRule::IsGone is_gone)
      : core_(core),
        job_(job),
        rule_(rule),
        is_gone_(std::move(is_gone)),
        chain_(chain_of(core, job)) {}

  // From last to first; a failure does not stop the others. Device information goes with each. If
  // there is a rule, only what that allows is run.
  aio::asio::awaitable<Removal> remove(std::vector<model::AttachmentPtr> planned);
  // Those of them that are still the container's own, for a request that only implies their DEL
  // (Ports::rule): what a living container has by now is given up. An error: that is not known now.
  aio::Task<std::vector<model::AttachmentPtr>> still_own(std::vector<model::AttachmentPtr> planned);
  aio::asio::awaitable<void> remove_device_info(model::AttachmentPtr attachment);

 private:
  aio::asio::awaitable<std::vector<model::AttachmentPtr>> judged(
      std::vector<model::AttachmentPtr> attachments, Removal* removal);

  const Core& core_;
  const Job& job_;
  DelRule* rule_;
  DelRule::IsGone is_gone_;
  chain::Chain chain_;
};

}  // namespace mnet::attach
