#include "attach/add.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/cancel.h"
#include "aio/failpoint.h"
#include "aio/task.h"
#include "attach/add_record.h"
#include "attach/add_report.h"
#include "attach/containers.h"
#include "attach/core.h"
#include "attach/plan.h"
#include "attach/ports.h"
#include "attach/remove.h"
#include "attach/resolve.h"
#include "attach/source.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/chain.h"
#include "cni/error.h"
#include "cni/result.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/messages.h"
#include "model/netconf.h"
#include "model/parallel.h"
#include "model/scratch.h"

namespace mnet::attach {
namespace {

json::Array encode_delegates(const std::vector<model::AttachmentPtr>& attachments) {
  json::Array delegates;
  for (const model::AttachmentPtr& attachment : attachments) {
    delegates.emplace_back(model::encode_scratch(attachment->delegate));
  }
  return delegates;
}

}  // namespace

Adding::Adding(Core& core, const Job& job, Containers::RunningAdd& running)
    : core_(core),
      job_(job),
      running_(running),
      access_(core, job),
      starter_(job.request.caller->companion()),
      chain_(chain_of(core, job, starter_)) {}

Error Adding::with_network(const Error& error, std::size_t index) const {
  return model::add_error(error, job_.pod, attachments_[index]->delegate.cni_name);
}

aio::Task<cni::NetResult> Adding::run() {
  if (gone()) co_return model::core_error(aio::cancelled_error(), job_.pod);
  auto ready = co_await await_readiness();
  if (!ready) co_return model::core_error(std::move(ready).error(), job_.pod);
  auto is_there = co_await fetch_pod();
  if (!is_there) co_return model::core_error(std::move(is_there).error(), job_.pod);
  if (!*is_there) {
    co_return result_without_pod(job_.conf.cni_version, job_.request.ifname, job_.request.netns);
  }
  MNET_CO_TRY_VOID(co_await plan());

  MNET_CO_TRY(auto&& earlier, co_await settle_earlier_add());
  if (earlier) co_return *std::move(earlier);
  if (gone()) co_return model::core_error(aio::cancelled_error(), job_.pod);

  MNET_CO_TRY_VOID(co_await begin());
  MNET_CO_TRY_VOID(co_await attach());
  co_return std::move(results_.front());
}

// Looks at once, then at intervals; a caller that leaves ends the wait (02-F51).
aio::Task<void> Adding::await_readiness() {
  const std::string& path = job_.conf.readiness_indicator_file;
  if (path.empty()) co_return Result<void>();
  const auto deadline = std::chrono::steady_clock::now() + core_.options.readiness_wait;
  for (;;) {
    MNET_CO_TRY(auto&& exists, co_await core_.ports.readiness.exists(path));
    if (exists) co_return Result<void>();
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) break;
    const auto next = std::min(now + core_.options.readiness_poll, deadline);
    auto left = co_await job_.request.caller->wait_gone(next);
    if (left || left.error().code() == Errc::kCancelled) co_return aio::cancelled_error();
  }
  co_return cni::coded(cni::Code::kTryAgainLater,
                       cat("still waiting for readinessindicatorfile @ ", path));
}

// A container that names no pod is none, and nobody is asked about it (00-index).
aio::Task<bool> Adding::fetch_pod() {
  ObjectSource* source = core_.ports.source;
  if (source == nullptr || !job_.pod.named()) co_return true;
  PodLookup lookup;
  lookup.ns = job_.pod.ns;
  lookup.name = job_.pod.name;
  lookup.uid = job_.pod.uid;
  lookup.wait = job_.conf.pod_lookup_timeout;
  MNET_CO_TRY(auto&& found, co_await source->find_pod(std::move(lookup)));
  pod_ = std::move(found);
  if (pod_ != nullptr || !source->is_complete()) co_return true;
  job_.log.verbose(
      cat("pod ", job_.pod.ns, "/", job_.pod.name, " is not there: nothing is attached"));
  co_return false;
}

aio::Task<void> Adding::plan() {
  Resolver resolver(core_, job_, pod_);
  auto resolved = co_await resolver.resolve();
  if (!resolved) co_return model::core_error(std::move(resolved).error(), job_.pod);
  routes_ = resolved->routes;
  MNET_CO_TRY(auto&& attachments, plan_add(job_, std::move(resolved->delegates)));
  attachments_ = std::move(attachments);
  results_.resize(attachments_.size());
  device_infos_.resize(attachments_.size());
  touched_.resize(attachments_.size());

  std::vector<model::AttachmentId> ids;
  ids.reserve(attachments_.size());
  for (const model::AttachmentPtr& attachment : attachments_) {
    ids.push_back({attachment->container_id, attachment->ifname});
  }
  running_.plan(std::move(ids));
  co_return Result<void>();
}

Error Adding::with_name(Error error, std::size_t index) const {
  const model::Attachment& attachment = *attachments_[index];
  return with_network(model::name_error(std::move(error), attachment.delegate, attachment.ifname),
                      index);
}

std::vector<std::string> Adding::names_of(model::Batch batch) const {
  std::vector<std::string> names;
  for (std::size_t i = batch.first; i < batch.end; ++i) names.push_back(attachments_[i]->ifname);
  return names;
}

// No link in the pod's namespace may have one of these names: what is there is not ours, and stays
// untouched (02-F54).
Result<void> Adding::all_free(const TakenNames& seen, model::Batch batch) const {
  if (seen.taken.empty()) return {};
  const std::string& name = seen.taken.front();
  std::size_t index = batch.first;
  while (attachments_[index]->ifname != name) ++index;
  return with_name(model::name_taken(name), index);
}

aio::Task<void> Adding::expect_free(model::Batch batch) {
  auto seen = co_await core_.ports.links.look(job_.request.netns, names_of(batch));
  if (!seen) co_return with_name(std::move(seen).error(), batch.first);
  co_return all_free(*seen, batch);
}

// Once the names are found free, scratch file and record are in place.
aio::Task<void> Adding::begin() {
  const model::Batch all{0, attachments_.size()};
  AddStart start;
  start.cni_dir = job_.conf.cni_dir;
  start.container_id = job_.request.container_id;
  start.netns = job_.request.netns;
  start.ifnames = names_of(all);
  start.notes = [this](const NetnsId& netns) { return first_notes(netns); };
  auto started = co_await core_.ports.records.begin_add(std::move(start));
  if (!started) co_return with_name(std::move(started).error(), 0);
  MNET_CO_TRY_VOID(all_free(started->seen, all));
  if (!started->scratch) {
    co_return model::core_error(std::move(started->scratch).error(), job_.pod,
                                "error saving the delegates");
  }
  // Without an attachment record ADD can do, without its scratch file not (05, 3.2).
  if (!started->record) job_.log.error("writing the attachment record", started->record.error());
  netns_ = started->seen.netns;
  co_return Result<void>();
}

AddStart::Notes Adding::first_notes(const NetnsId& netns) const {
  return {.delegates = encode_delegates(attachments_),
          .record = model::encode_record(
              begin_record(job_, pod_, netns, core_.options.boot_id, attachments_))};
}

AddEnd::Notes Adding::last_notes() const {
  AddEnd::Notes notes;
  if (last_)
    notes.result = chain::cache_entry(*attachments_[*last_], cni::to_json(results_[*last_]));
  model::AttachmentRecord record =
      begin_record(job_, pod_, netns_, core_.options.boot_id, attachments_);
  complete_record(record, results_, rfc3339_utc(WallClock::system().now()));
  notes.record = model::encode_record(std::move(record));
  return notes;
}

// What begin() wrote is on disk, like the results, before the answer; the sync takes its time
// beside the delegates (00-index, "Durable when").
aio::Task<void> Adding::attach() {
  std::vector<aio::Task<void>> both;
  both.push_back(build());  // first: the delegate starts before anybody is told to sync
  both.push_back(core_.ports.records.sync(job_.conf.cni_dir, job_.request.container_id, {}));
  auto ended = co_await aio::all(std::move(both));
  Result<void> attached = std::move(ended[0]);
  if (attached && !ended[1]) {
    attached =
        model::core_error(std::move(ended[1]).error(), job_.pod, "error saving the delegates");
  }
  if (attached) attached = co_await report();
  if (attached) attached = co_await end();
  if (attached) co_return Result<void>();

  // The caller may be gone by now; what was built comes down regardless.
  auto undone = co_await aio::shielded(undo());
  if (!undone) job_.log.error("rollback is incomplete", undone.error());
  co_return attached;
}

// The record is ready only now, after the status was written (05, 3.11).
aio::Task<void> Adding::end() {
  MNET_FAILPOINT("sync-before-reply");
  AddEnd end;
  end.cni_dir = job_.conf.cni_dir;
  end.container_id = job_.request.container_id;
  for (std::size_t i = 0; i < attachments_.size(); ++i) {
    if (i != last_) end.in_place.push_back(attachments_[i]->key());
  }
  end.notes = [this] { return last_notes(); };
  auto ended = co_await core_.ports.records.end_add(std::move(end));
  if (!ended)
    co_return model::core_error(std::move(ended).error(), job_.pod, "error saving the results");
  if (!ended->result) {
    co_return with_network(
        chain::not_remembered(std::move(ended->result).error(), *attachments_[*last_]), *last_);
  }
  last_.reset();
  if (!ended->synced) {
    co_return model::core_error(std::move(ended->synced).error(), job_.pod,
                                "error saving the results");
  }
  if (!ended->record) job_.log.error("writing the attachment record", ended->record.error());
  // Who left while we worked will send a DEL, if anything; nobody gets this answer.
  if (gone()) co_return model::core_error(aio::cancelled_error(), job_.pod);
  co_return Result<void>();
}

// The scratch file stays for the runtime's DEL; but a caller who is gone may never send one (03,
// 2.11), so then it goes, if nothing is left to delete.
aio::Task<void> Adding::undo() {
  // DEL hands it to the plugins.
  if (last_) {
    co_await access_.restore_result(attachments_[*last_], cni::to_json(results_[*last_]));
  }
  std::vector<model::AttachmentPtr> touched;
  for (std::size_t i = 0; i < attachments_.size(); ++i) {
    if (touched_[i]) touched.push_back(attachments_[i]);
  }
  Remover remover(core_, job_);
  Removal removal = co_await remover.remove(std::move(touched));
  MNET_CO_TRY_VOID(removal.complete());
  if (!gone()) co_return Result<void>();
  co_return co_await access_.remove();
}

}  // namespace mnet::attach
