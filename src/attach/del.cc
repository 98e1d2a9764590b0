#include "attach/del.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/task.h"
#include "attach/attach.h"
#include "attach/container_records.h"
#include "attach/core.h"
#include "attach/recorded_attachments.h"
#include "attach/remove.h"
#include "attach/resolve.h"
#include "attach/source.h"
#include "base/error.h"
#include "base/error_list.h"
#include "base/reading.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/error.h"
#include "json/json.h"
#include "model/attachment.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/event_reasons.h"
#include "model/messages.h"
#include "model/objects.h"
#include "model/pod_args.h"

namespace mnet::attach {
namespace {

using Clock = std::chrono::steady_clock;

// How long a DEL that no record helps waits for the API: most likely nothing was ever attached, and
// the runtime retries sandboxes one after another (02, 6.2 step 4).
constexpr std::chrono::seconds kMostOfReads{1};

// `errors: <e1> / <e2>`, a single one too (02, 6.3).
Error joined(const ErrorList& errors) { return errors.join(" / ").error().wrap("errors"); }

// A delegate could not be run at all.
bool is_short(const Removal& removal) {
  return std::ranges::any_of(removal.errors.errors(), is_shortage);
}

// Frees what was read, once everything that is to be removed is listed.
void drop_contents(ContainerRecords& record) {
  record.delegates.reset();
  record.entries = {};
  record.attachment_record.reset();
}

// The pod itself is not looked for: a DEL that has its records asks no server.
PodEvent not_removed(const Job& job, const Error& why) {
  return {.pod = job.pod_as_named(),
          .is_warning = true,
          .reason = model::kNetworksNotRemoved,
          .message = cat("networks of the pod could not be removed; Multus tries again until they "
                         "are: ",
                         why.text()),
          .request_id = job.request.id};
}

// Whether the ADD of a remaining network succeeded, as far as the records tell.
bool may_be_attached(const ContainerRecords& record, const std::set<std::string>& gone) {
  if (!record.attachment_record || !record.unreadable.empty() || !record.entries.empty()) {
    return true;
  }
  return std::ranges::any_of(
      record.attachment_record->attachments, [&gone](const model::RecordedAttachment& one) {
        return one.state != model::AttachmentState::kAdding && !gone.contains(one.ifname);
      });
}

void log_all(const Job& job, const ErrorList& errors, std::string_view what) {
  for (const Error& error : errors.errors()) job.log.error(what, error);
}

}  // namespace

aio::Task<DelOutcome> Deleting::run() {
  core_.forget_status(job_.request.container_id);
  co_await note_readiness();
  auto loaded = co_await access_.load_readable();
  if (!loaded) co_return model::core_error(std::move(loaded).error(), job_.pod);
  ContainerRecords record = *std::move(loaded);
  TakeDown down = take_down_of(job_, record);
  const bool is_recorded = record.delegates || !record.entries.empty() || !down.listed.empty();
  if (const auto& fault = job_.conf.fault) {
    const Error why = fault->wrap("error loading netconf");
    if (!is_recorded && record.unreadable.empty()) {
      co_return DelOutcome{.failed = try_again(why), .keeps_failed = true, .is_unknown = true};
    }
    job_.log.error("DEL continues with what is on record", why);
  } else if (!is_recorded && record.unreadable.empty()) {
    co_await delete_unrecorded();
  }

  co_await restore(lost_results(record));
  drop_contents(record);
  Remover remover(core_, job_);
  Removal listed = co_await remover.remove(std::move(down.listed));
  Removal leftovers = co_await remover.remove(std::move(down.leftovers));
  // The runtime does not hear of these errors (02-F41).
  for (const Error& error : leftovers.errors.errors()) {
    (is_shortage(error) ? listed.errors : record.unreadable)
        .add(error.wrap("deleting what only the result cache lists"));
  }
  for (const ErrorList* unread : {&listed.unread, &leftovers.unread}) {
    for (const Error& error : unread->errors()) record.unreadable.add(error);
  }
  co_return co_await conclude(std::move(record), std::move(listed));
}

aio::asio::awaitable<void> Deleting::note_readiness() {
  const std::string& path = job_.conf.readiness_indicator_file;
  if (path.empty()) co_return;
  auto exists = co_await core_.ports.readiness.exists(path);
  if (!exists || !*exists) {
    job_.log.warning(cat("DEL continues without the readiness indicator file ", path));
  }
}

// The list that an ADD would make now, if there is still a pod to make it for.
aio::Task<std::vector<model::Delegate>> Deleting::rebuild() {
  const aio::Deadline reads_end = Clock::now() + kMostOfReads;
  const model::PodObjectPtr pod = co_await find_pod(reads_end);
  Resolver resolver(core_, job_, pod, reads_end);
  if (pod == nullptr) {
    co_return co_await resolver.configured();
  }
  co_return co_await resolver.resolve_each();
}

// nullptr if there is no such pod, if it has another UID, or if that is unknown (02, 6.2 step 4).
aio::asio::awaitable<model::PodObjectPtr> Deleting::find_pod(aio::Deadline deadline) {
  ObjectSource* source = core_.ports.source;
  if (source == nullptr || !job_.pod.named()) co_return nullptr;
  PodLookup lookup = job_.pod_lookup();
  lookup.once = lookup.may_be_cut = true;
  auto pod = co_await aio::with_deadline(source->find_pod(std::move(lookup)), deadline);
  if (pod) co_return *std::move(pod);
  job_.log.error("DEL of a container without a record, reading its pod", pod.error());
  co_return nullptr;
}

// Plugins get their previous result from the result cache; the attachment record has it as well.
std::vector<Deleting::LostResult> Deleting::lost_results(const ContainerRecords& record) const {
  std::vector<LostResult> lost;
  if (!record.attachment_record) return lost;
  for (const model::RecordedAttachment& recorded : record.attachment_record->attachments) {
    if (!is_plugged_in(recorded) || !recorded.result) continue;
    if (record.find_entry(recorded.cni_name, recorded.ifname) != nullptr) continue;
    lost.push_back({.attachment = attachment_of(job_, *record.attachment_record, recorded, false),
                    .result = *recorded.result});
  }
  return lost;
}

aio::asio::awaitable<void> Deleting::restore(std::vector<LostResult> lost) {
  for (LostResult& one : lost) {
    co_await access_.restore_result(one.attachment, std::move(one.result));
  }
}

// No record at all: most likely nothing was ever attached, so this is best effort and cannot fail
// (02, 6.2 step 4).
aio::asio::awaitable<void> Deleting::delete_unrecorded() {
  auto delegates = co_await rebuild();
  if (!delegates) {
    job_.log.error("DEL of a container without a record", delegates.error());
    co_return;
  }
  if (delegates->empty()) co_return;
  ContainerRecords made_up;
  made_up.delegates = *std::move(delegates);
  Remover remover(core_, job_);
  TakeDown down = take_down_of(job_, made_up);
  auto own = co_await remover.still_own(std::move(down.listed));
  if (!own) {
    job_.log.error("DEL of a container without a record", own.error());
    co_return;
  }
  Removal removal = co_await remover.remove(*std::move(own));
  log_all(job_, removal.errors, "DEL of a container without a record");
}

aio::Task<DelOutcome> Deleting::conclude(ContainerRecords record, Removal removal) {
  DelOutcome outcome;
  if (!removal.errors.empty()) outcome.failed = try_again(joined(removal.errors));
  if (!record.unreadable.empty()) outcome.unreadable = try_again(joined(record.unreadable));
  // A delegate that never ran has refused nothing: its files stay, whatever is configured.
  const bool was_short = is_short(removal);
  outcome.keeps_failed = job_.conf.retry_delete_on_error;
  if (!outcome.failed && !outcome.unreadable) {
    if (!record.has_file && !record.has_attachment_record) co_return outcome;
    auto removed = co_await access_.remove();
    if (!removed) job_.log.error("cannot remove the records of the container", removed.error());
    co_return outcome;
  }
  if (job_.request.is_last && !was_short && !outcome.unreadable) {
    // Each plugin had its last chance: what stays on record would only be found again.
    auto removed = co_await access_.remove();
    if (!removed) job_.log.error("cannot remove the records of the container", removed.error());
    co_return outcome;
  }
  const bool is_asked_for = job_.request.rule == nullptr;
  const bool is_runtimes = was_short || (outcome.failed && outcome.keeps_failed && is_asked_for);
  if (!is_runtimes) {
    outcome.is_pending =
        co_await keep_pending(outcome.failed ? *outcome.failed : *outcome.unreadable);
  }
  const auto was_attached = co_await keep_rest(std::move(removal), outcome.is_pending);
  if (!was_attached) job_.log.error("error saving the delegates", was_attached.error());
  outcome.is_of_failed_add = was_attached && !*was_attached;
  if (was_short) co_return *std::move(outcome.failed);
  co_return outcome;
}

// Under the container's lock: an ADD of the same container that waits for its turn finds it.
aio::asio::awaitable<bool> Deleting::keep_pending(Error why) {
  if (core_.ports.pending == nullptr) co_return false;
  if (job_.request.pending_body.empty()) co_return true;
  auto is_new = co_await core_.ports.pending->keep(job_.conf.cni_dir, job_.request.container_id,
                                                   job_.request.ifname, job_.request.pending_body);
  if (!is_new) {
    job_.log.error("cannot write a pending DEL", is_new.error());
    co_return false;
  }
  job_.log.error("DEL will be repeated as a pending DEL", why);
  if (*is_new && core_.ports.source != nullptr && job_.pod.named()) {
    core_.ports.source->send(not_removed(job_, why));
  }
  co_return true;
}

Error Deleting::try_again(const Error& error) const {
  return cni::coded(cni::Code::kTryAgainLater, model::core_error(error, job_.pod).text());
}

// The retry needs only what is still there, and may end if none of it was ever attached. Read
// again: while the plugins ran, no second copy of what they were given was held.
aio::Task<bool> Deleting::keep_rest(Removal removal, bool is_pending) {
  // Nothing was tried: nothing changes.
  if (removal.removed.empty() && is_short(removal)) co_return true;
  std::set<std::string> gone;
  for (const model::AttachmentPtr& removed : removal.removed) gone.insert(removed->ifname);
  MNET_CO_TRY(ContainerRecords record, co_await access_.load_readable());
  const bool was_attached = may_be_attached(record, gone);
  const auto& recorded = record.attachment_record;
  // A DEL that fails again and again has nothing new to say.
  const bool is_known = recorded && gone.empty() &&
                        recorded->state == model::RecordState::kDeleting &&
                        recorded->is_pending == is_pending;
  if (recorded && !is_known) {
    record.attachment_record->is_pending = is_pending;
    co_await keep_record(*record.attachment_record, gone);
  }
  if (record.delegates && !gone.empty()) {
    MNET_CO_TRY_VOID(co_await access_.mark_removed(std::move(record), std::move(gone)));
  }
  co_return was_attached;
}

// Nothing may be plugged into it from now on (05, 3.3).
aio::asio::awaitable<void> Deleting::keep_record(model::AttachmentRecord attachment_record,
                                                 std::set<std::string> gone) {
  std::erase_if(attachment_record.attachments,
                [&](const model::RecordedAttachment& one) { return gone.contains(one.ifname); });
  attachment_record.state = model::RecordState::kDeleting;
  auto written = co_await access_.save_record(std::move(attachment_record));
  if (!written) job_.log.error("cannot write the attachment record", written.error());
}

aio::Task<void> Deleting::run_stale(DelRule::IsGone is_gone) {
  core_.forget_status(job_.request.container_id);
  MNET_CO_TRY(auto&& loaded, co_await access_.load_readable());
  ContainerRecords record = std::move(loaded);
  // Any file of that folder has the name of some container. Only what we can read is surely ours.
  const bool is_foreign = record.has_file && !record.delegates && !record.has_attachment_record &&
                          record.entries.empty() && record.unreadable.empty();
  if (is_foreign) {
    job_.log.verbose(cat("GC leaves the file ", job_.request.container_id, " in ",
                         job_.conf.cni_dir, " alone: it is not a scratch file"));
    co_return Result<void>();
  }
  TakeDown down = take_down_of(job_, record);
  std::ranges::move(down.leftovers, std::back_inserter(down.listed));
  co_await restore(lost_results(record));
  drop_contents(record);
  Remover remover(core_, job_, core_.ports.rule, std::move(is_gone));
  Removal removal = co_await remover.remove(std::move(down.listed));
  if (removal.errors.empty() && record.unreadable.empty()) {
    if (!record.has_file && !record.has_attachment_record) co_return Result<void>();
    co_return co_await access_.remove();
  }
  ErrorList errors = removal.errors;
  for (const Error& error : record.unreadable.errors()) errors.add(error);
  auto kept = co_await keep_rest(std::move(removal), false);
  if (!kept) job_.log.error("error saving the delegates", kept.error());
  co_return joined(errors);
}

}  // namespace mnet::attach
