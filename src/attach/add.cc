#include "attach/add.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "aio/cancel.h"
#include "aio/failpoint.h"
#include "aio/together.h"
#include "attach/messages.h"
#include "attach/plan.h"
#include "attach/remove.h"
#include "attach/resolve.h"
#include "attach/scratch.h"
#include "base/text.h"
#include "cni/error.h"

namespace mnet::attach {
namespace {

// The type in the message about a taken name; empty for a list (02, 5.1 step 7b).
std::string single_type(const Delegate& delegate) {
  return delegate.is_list ? std::string() : delegate.types.front();
}

Error name_error(Error error, const Attachment& attachment) {
  return std::move(error).wrap(cat("cannot set ", go_quoted(single_type(attachment.delegate)),
                                   " interface name to ", go_quoted(attachment.ifname)));
}

}  // namespace

Adding::Adding(Core& core, const Job& job, Containers::Add& books)
    : core_(core), job_(job), books_(books), book_(core, job), chain_(chain_of(core, job)) {}

Error Adding::with_network(Error error, std::size_t index) const {
  return add_error(std::move(error), job_.pod, attachments_[index]->delegate.cni_name);
}

aio::Task<cni::NetResult> Adding::run() {
  if (job_.request.caller->gone()) co_return core_error(aio::cancelled_error(), job_.pod);
  auto ready = co_await await_readiness();
  if (!ready) co_return core_error(std::move(ready).error(), job_.pod);
  auto planned = co_await plan();
  if (!planned) co_return std::move(planned).error();

  auto earlier = co_await settle_earlier_add();
  if (!earlier) co_return std::move(earlier).error();
  if (*earlier) co_return **std::move(earlier);
  auto free = co_await expect_free(0, attachments_.size());
  if (!free) co_return std::move(free).error();
  if (job_.request.caller->gone()) co_return core_error(aio::cancelled_error(), job_.pod);

  auto attached = co_await attach();
  if (!attached) co_return std::move(attached).error();
  co_return std::move(results_.front());
}

// Looks at once, then at intervals; a caller that leaves ends the wait (02-F51).
aio::Task<void> Adding::await_readiness() {
  const std::string& path = job_.conf.readiness_indicator_file;
  if (path.empty()) co_return Result<void>();
  const auto deadline = std::chrono::steady_clock::now() + core_.options.readiness_wait;
  for (;;) {
    auto exists = co_await core_.ports.readiness.exists(path);
    if (!exists) co_return std::move(exists).error();
    if (*exists) co_return Result<void>();
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) break;
    const auto next = std::min(now + core_.options.readiness_poll, deadline);
    auto gone = co_await job_.request.caller->wait_gone(next);
    if (gone || gone.error().code() == Errc::kCancelled) co_return aio::cancelled_error();
  }
  co_return cni::coded(cni::Code::kTryAgainLater,
                       cat("still waiting for readinessindicatorfile @ ", path));
}

aio::Task<void> Adding::plan() {
  Resolver resolver(core_, job_);
  auto resolved = co_await resolver.resolve();
  if (!resolved) co_return core_error(std::move(resolved).error(), job_.pod);
  auto attachments = plan_add(job_, std::move(resolved->delegates));
  if (!attachments) co_return std::move(attachments).error();
  attachments_ = *std::move(attachments);

  std::vector<AttachmentId> ids;
  for (const AttachmentPtr& attachment : attachments_) {
    ids.push_back({attachment->container_id, attachment->ifname});
  }
  books_.plan(std::move(ids));
  co_return Result<void>();
}

// No link in the pod's namespace may have one of these names: what is there is not ours, and stays
// untouched (02-F54).
aio::Task<void> Adding::expect_free(std::size_t first, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = first; i < first + count; ++i) names.push_back(attachments_[i]->ifname);
  auto seen = co_await core_.ports.links.look(job_.request.netns, names);
  if (!seen) {
    co_return with_network(name_error(std::move(seen).error(), *attachments_[first]), first);
  }
  if (seen->taken.empty()) co_return Result<void>();
  const std::string& name = seen->taken.front();
  const auto at = std::ranges::find(names, name) - names.begin();
  const std::size_t index = first + static_cast<std::size_t>(at);
  Error error(Errc::kConflict, cat("interface name ", name, " already exists"));
  co_return with_network(name_error(std::move(error), *attachments_[index]), index);
}

// The scratch file is in place before the first delegate starts, and on disk, like the results,
// before the answer; the sync takes its time beside the delegates (00-index, "Durable when").
aio::Task<void> Adding::attach() {
  json::Array delegates;
  for (const AttachmentPtr& attachment : attachments_) {
    delegates.emplace_back(encode_scratch(attachment->delegate));
  }
  auto noted = co_await book_.write(std::move(delegates));
  if (!noted) {
    co_return core_error(std::move(noted).error(), job_.pod, "error saving the delegates");
  }

  std::vector<aio::Task<void>> both;
  both.push_back(book_.sync());
  both.push_back(attach_all());
  auto ended = co_await aio::all(std::move(both));
  Result<void> attached = std::move(ended[1]);
  if (attached && !ended[0]) {
    attached = core_error(std::move(ended[0]).error(), job_.pod, "error saving the delegates");
  }
  if (attached) attached = co_await sync_results();
  if (attached) co_return Result<void>();

  // The caller may be gone by now; what was built comes down regardless.
  auto undone = co_await aio::shielded(undo());
  if (!undone) job_.log.error("rollback is incomplete", undone.error());
  co_return attached;
}

aio::Task<void> Adding::attach_all() {
  for (std::size_t i = 0; i < attachments_.size(); ++i) {
    if (job_.request.caller->gone()) co_return core_error(aio::cancelled_error(), job_.pod);
    if (i > 0) {  // the first has just been looked for, with all the others
      auto free = co_await expect_free(i, 1);
      if (!free) co_return free;
    }
    auto attached = co_await attach_one(i);
    if (!attached) co_return with_network(std::move(attached).error(), i);
  }
  co_return Result<void>();
}

aio::Task<void> Adding::attach_one(std::size_t index) {
  const AttachmentPtr attachment = attachments_[index];
  // Noted before the call: a plugin that fails may still have left half its work behind.
  touched_ = index + 1;
  MNET_FAILPOINT("delegate-before-run");
  // The last entry is synced as it is written, which saves a way to the pool; the others later, all
  // at once, so that no plugin waits for the disk.
  const Kept kept = index + 1 == attachments_.size() ? Kept::kDurable : Kept::kInPlace;
  auto result = co_await chain_.add(attachment, kept);
  if (!result) co_return std::move(result).error();
  MNET_FAILPOINT("delegate-after-run");
  const Delegate& delegate = attachment->delegate;
  if (job_.log.writes(LogLevel::kVerbose)) {
    job_.log.verbatim(LogLevel::kVerbose,
                      cat("Add: ", job_.log_identity(), ":", delegate.name, "(", delegate.cni_name,
                          "):", attachment->ifname, " ", json::dump(cni::to_json(*result))));
  }
  results_.push_back(*std::move(result));
  co_return Result<void>();
}

aio::Task<void> Adding::sync_results() {
  MNET_FAILPOINT("sync-before-reply");
  std::vector<CacheKey> keys;
  for (const AttachmentPtr& attachment : attachments_) keys.push_back(attachment->key());
  keys.pop_back();
  if (!keys.empty()) {
    auto synced = co_await core_.ports.records.sync_results(job_.conf.cni_dir, std::move(keys));
    if (!synced) {
      co_return core_error(std::move(synced).error(), job_.pod, "error saving the results");
    }
  }
  // Who left while we worked will send a DEL, if anything; nobody gets this answer.
  if (job_.request.caller->gone()) co_return core_error(aio::cancelled_error(), job_.pod);
  co_return Result<void>();
}

// The scratch file stays for the runtime's DEL; but a caller who is gone may never send one (03,
// 2.11), so then it goes, if nothing is left to delete.
aio::Task<void> Adding::undo() {
  Remover remover(core_, job_);
  attachments_.resize(touched_);
  Removal removal = co_await remover.remove(attachments_);
  if (!removal.errors.empty()) co_return removal.errors.join(" / ");
  if (!job_.request.caller->gone()) co_return Result<void>();
  auto removed = co_await book_.remove();
  co_return removed;
}

}  // namespace mnet::attach
