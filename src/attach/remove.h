// Removes networks of one container, for DEL, rollback and GC alike (02, 5.5, 6.3).
#pragma once

#include <cstddef>
#include <vector>

#include "aio/task.h"
#include "attach/core.h"
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
  // Both must outlive it, and it must outlive its tasks.
  Remover(const Core& core, const Job& job) : core_(core), job_(job), chain_(chain_of(core, job)) {}

  // From last to first; a failure does not stop the others. Device information goes with each. If
  // the request has a rule, only what that allows is run.
  aio::asio::awaitable<Removal> remove(std::vector<model::AttachmentPtr> planned);
  aio::asio::awaitable<void> remove_device_info(model::AttachmentPtr attachment);

 private:
  aio::asio::awaitable<std::vector<model::AttachmentPtr>> judged(
      std::vector<model::AttachmentPtr> attachments, Removal* removal);

  const Core& core_;
  const Job& job_;
  chain::Chain chain_;
};

}  // namespace mnet::attach
