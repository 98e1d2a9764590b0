#include "attach/del.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attach/messages.h"
#include "attach/plan.h"
#include "attach/resolve.h"
#include "attach/scratch.h"
#include "base/text.h"
#include "cni/error.h"

namespace mnet::attach {
namespace {

// `errors: <e1> / <e2>`, a single one too (02, 6.3).
Error joined(const ErrorList& errors) { return errors.join(" / ").error().wrap("errors"); }

void log_all(const Job& job, const ErrorList& errors, std::string_view what) {
  for (const Error& error : errors.errors()) job.log.error(what, error);
}

}  // namespace

aio::Task<void> Deleting::run() {
  co_await note_readiness();
  const Record record = co_await book_.load();
  TakeDown down = take_down_of(job_, record);
  const bool is_recorded = record.delegates || !record.entries.empty();
  if (!is_recorded) co_await delete_unrecorded();

  Remover remover(core_, job_);
  Removal listed = co_await remover.remove(std::move(down.listed));
  Removal leftovers = co_await remover.remove(std::move(down.leftovers));
  log_all(job_, leftovers.errors, "deleting what only the result cache knows");
  auto concluded = co_await conclude(record, std::move(listed));
  co_return concluded;
}

aio::asio::awaitable<void> Deleting::note_readiness() {
  const std::string& path = job_.conf.readiness_indicator_file;
  if (path.empty()) co_return;
  auto exists = co_await core_.ports.readiness.exists(path);
  if (!exists || !*exists) {
    job_.log.error(cat("DEL goes on without the readiness indicator file ", path));
  }
}

// No record at all: most likely nothing was ever attached, so this is best effort and cannot fail
// (02, 6.2 step 4).
aio::asio::awaitable<void> Deleting::delete_unrecorded() {
  Resolver resolver(core_, job_);
  std::vector<Delegate> delegates = job_.conf.delegates;
  if (delegates.empty()) {
    auto master = co_await resolver.master();
    if (!master) {
      job_.log.error("DEL of a container without a record", master.error());
      co_return;
    }
    delegates.push_back(*std::move(master));
  }
  Record made_up;
  made_up.delegates = std::move(delegates);
  Remover remover(core_, job_);
  Removal removal = co_await remover.remove(take_down_of(job_, made_up).listed);
  log_all(job_, removal.errors, "DEL of a container without a record");
}

aio::Task<void> Deleting::conclude(Record record, Removal removal) {
  const bool failed = !removal.errors.empty();
  const bool again = failed && (job_.conf.retry_delete_on_error || job_.request.report_failed_del);
  if (failed && job_.conf.retry_delete_on_error) {
    auto kept = co_await keep_rest(std::move(record), removal);
    if (!kept) job_.log.error("error saving the delegates", kept.error());
  } else if (record.has_file) {
    auto removed = co_await book_.remove();
    if (!removed) job_.log.error("removing the scratch file", removed.error());
  }
  if (!failed) co_return Result<void>();
  const Error error = core_error(joined(removal.errors), job_.pod);
  if (!again) {
    job_.log.error("DEL", error);
    co_return Result<void>();
  }
  co_return cni::coded(cni::Code::kTryAgainLater, error.text());
}

// The retry needs only what is still there. Elements stay in their places, because names derive
// from those (02, 4.1); that one is done is a member of our own, which the original ignores.
aio::Task<void> Deleting::keep_rest(Record record, Removal removal) {
  if (!record.delegates || removal.removed.empty()) co_return Result<void>();
  const std::string master = record.master_ifname(job_.request.ifname);
  for (std::size_t i = 0; i < record.delegates->size(); ++i) {
    Delegate& delegate = (*record.delegates)[i];
    const std::string ifname = interface_name(delegate, i, master);
    delegate.removed =
        delegate.removed || std::ranges::any_of(removal.removed, [&](const AttachmentPtr& removed) {
          return removed->ifname == ifname;
        });
  }
  auto written = co_await book_.write(encode_scratch(*record.delegates));
  if (!written) co_return written;
  auto synced = co_await book_.sync();
  co_return synced;
}

aio::Task<void> Deleting::run_stale() {
  Record record = co_await book_.load();
  TakeDown down = take_down_of(job_, record);
  std::ranges::move(down.leftovers, std::back_inserter(down.listed));
  Remover remover(core_, job_);
  Removal removal = co_await remover.remove(std::move(down.listed));
  if (removal.errors.empty()) {
    if (!record.has_file) co_return Result<void>();
    auto removed = co_await book_.remove();
    co_return removed;
  }
  const Error error = joined(removal.errors);
  auto kept = co_await keep_rest(std::move(record), std::move(removal));
  if (!kept) job_.log.error("error saving the delegates", kept.error());
  co_return error;
}

}  // namespace mnet::attach
