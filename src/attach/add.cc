#include "attach/add.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/cancel.h"
#include "aio/failpoint.h"
#include "aio/task.h"
#include "attach/add_report.h"
#include "attach/container_records.h"
#include "attach/core.h"
#include "attach/earlier_add.h"
#include "attach/network_attacher.h"
#include "attach/plan.h"
#include "attach/ports.h"
#include "attach/recorded_attachments.h"
#include "attach/resolve.h"
#include "attach/source.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/error_list.h"
#include "base/netns_id.h"
#include "base/reading.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/chain.h"
#include "cni/cache.h"
#include "cni/error.h"
#include "cni/result.h"
#include "json/json.h"
#include "model/attachment.h"
#include "model/attachment_record.h"
#include "model/messages.h"
#include "model/netconf.h"
#include "model/pod_args.h"
#include "model/requested_networks.h"
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

Error Adding::cancelled() const { return model::core_error(aio::cancelled_error(), job_.pod); }

aio::Task<cni::NetResult> Adding::run() {
  if (gone()) co_return cancelled();
  auto ready = co_await await_readiness();
  if (!ready) co_return model::core_error(std::move(ready).error(), job_.pod);
  auto is_there = co_await fetch_pod();
  if (!is_there) co_return model::core_error(std::move(is_there).error(), job_.pod);
  if (!*is_there) {
    co_return result_without_pod(job_.conf.cni_version, job_.request.ifname, job_.request.netns);
  }
  MNET_CO_TRY_VOID(co_await plan());

  EarlierAdd earlier(core_, job_, pod_);
  MNET_CO_TRY(auto&& answer, co_await earlier.settle());
  if (answer) co_return *std::move(answer);
  if (gone()) co_return cancelled();

  MNET_CO_TRY_VOID(co_await begin());
  MNET_CO_TRY_VOID(co_await carry_out());
  networks_->announce();
  if (status_) {
    core_.ports.owed->owe({.cni_dir = job_.conf.cni_dir,
                           .container_id = job_.request.container_id,
                           .pod = pod_,
                           .text = *std::move(status_),
                           .request_id = job_.request.id});
  }
  co_return networks_->take_answer();
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

// A container that names no pod is not a pod: there is nothing to ask for (00-index).
aio::Task<bool> Adding::fetch_pod() {
  ObjectSource* source = core_.ports.source;
  if (source == nullptr || !job_.pod.named()) co_return true;
  PodLookup lookup = job_.pod_lookup();
  lookup.wait = job_.conf.pod_lookup_timeout;
  lookup.may_be_cut = true;
  MNET_CO_TRY(auto&& found, co_await source->find_pod(std::move(lookup)));
  pod_ = std::move(found);
  if (pod_ != nullptr || !source->is_complete()) co_return true;
  job_.log.verbose(cat("pod ", model::shown_name(job_.pod.ns), "/",
                       model::shown_name(job_.pod.name), " does not exist: nothing is attached"));
  co_return false;
}

aio::Task<void> Adding::plan() {
  Resolver resolver(core_, job_, pod_);
  auto resolved = co_await resolver.resolve();
  if (!resolved) co_return model::core_error(std::move(resolved).error(), job_.pod);
  MNET_CO_TRY(auto&& attachments, plan_add(job_, std::move(resolved->delegates)));
  std::vector<model::AttachmentId> ids;
  ids.reserve(attachments.size());
  for (const model::AttachmentPtr& attachment : attachments) {
    ids.push_back({attachment->container_id, attachment->ifname});
  }
  running_.plan(std::move(ids));
  may_owe_ = pod_ != nullptr && core_.ports.owed != nullptr && !model::may_ask_for_networks(*pod_);
  networks_.emplace(core_, job_, pod_, std::move(attachments), resolved->routes);
  co_return Result<void>();
}

// Once the names are found free, scratch file and record are in place.
aio::Task<void> Adding::begin() {
  AddStart start;
  start.cni_dir = job_.conf.cni_dir;
  start.container_id = job_.request.container_id;
  start.netns = job_.request.netns;
  start.ifnames = networks_->names_of(networks_->all());
  start.delegates = [this] { return encode_delegates(networks_->attachments()); };
  start.record = [this](const NetnsId& netns) { return model::encode_record(record(netns)); };
  auto started = co_await core_.ports.records.begin_add(std::move(start));
  MNET_CO_TRY_VOID(networks_->expect_free(
      started ? Result<TakenNames>(started->seen) : started.error(), networks_->all()));
  if (!started->scratch) {
    co_return model::core_error(std::move(started->scratch).error(), job_.pod,
                                "error saving the delegates");
  }
  MNET_CO_TRY_VOID(accept(started->record));
  netns_ = started->seen.netns;
  co_return Result<void>();
}

// ADD can do without an attachment record (05, 3.2). But what the machine lacks for a moment is not
// worth a pod that is never reconciled: the runtime repeats the ADD.
Result<void> Adding::accept(const Result<void>& record) const {
  if (record) return {};
  job_.log.error("cannot write the attachment record", record.error());
  if (!is_shortage(record.error())) return {};
  return model::core_error(record.error(), job_.pod, "error saving the delegates");
}

model::AttachmentRecord Adding::record(const NetnsId& netns) const {
  return begin_record(job_, pod_, netns, core_.options.boot_id, networks_->attachments());
}

std::optional<cni::CacheEntry> Adding::last_result() const {
  const auto last = networks_->unwritten();
  if (!last) return std::nullopt;
  return chain::cache_entry(*networks_->attachments()[*last],
                            cni::to_json(networks_->results()[*last]));
}

json::Object Adding::last_record() const {
  model::AttachmentRecord complete = record(netns_);
  complete_record(complete, networks_->results(), rfc3339_utc(WallClock::system().now()));
  complete.status_owed = status_.has_value();
  return model::encode_record(std::move(complete));
}

// What begin() wrote is on disk, like the results, before the answer; the sync takes its time
// beside the delegates (00-index, "Durable when").
aio::Task<void> Adding::carry_out() {
  std::vector<aio::Task<void>> both;
  both.push_back(networks_->run());  // first: the delegate starts before the pool is asked to sync
  both.push_back(core_.ports.records.sync(job_.conf.cni_dir, job_.request.container_id, {}));
  auto ended = co_await aio::all(std::move(both));
  Result<void> attached = std::move(ended[0]);
  if (attached && !ended[1]) {
    attached =
        model::core_error(std::move(ended[1]).error(), job_.pod, "error saving the delegates");
  }
  if (attached && gone()) attached = cancelled();
  if (attached) attached = co_await conclude();
  if (attached) co_return Result<void>();

  // The caller may be gone by now; what was built comes down regardless.
  auto undone = co_await aio::shielded(undo());
  if (!undone) job_.log.error("rollback is incomplete", undone.error());
  co_return attached;
}

// The record is ready only after the status was written, or says that it is owed (05, 3.11).
aio::Task<void> Adding::conclude() {
  MNET_CO_TRY(auto&& text, co_await networks_->status());
  status_ = std::move(text);
  auto ending = status_ && !may_owe_ ? end_with_status() : end([this] { return last_record(); });
  MNET_CO_TRY_VOID(co_await std::move(ending));
  // A caller that left while we worked gets no answer; it may send a DEL.
  if (gone()) co_return cancelled();
  co_return Result<void>();
}

// The server works beside the disk.
aio::Task<void> Adding::end_with_status() {
  if (core_.ports.owed != nullptr) core_.ports.owed->forget_pod(*pod_);
  std::vector<aio::Task<void>> both;
  both.push_back(networks_->write_status(*std::exchange(status_, std::nullopt)));
  both.push_back(end({}));
  auto ended = co_await aio::all(std::move(both));
  MNET_CO_TRY_VOID(std::move(ended[0]));
  MNET_CO_TRY_VOID(std::move(ended[1]));
  auto completed = co_await core_.ports.records.complete_add(
      job_.conf.cni_dir, job_.request.container_id, [this] { return last_record(); });
  co_return accept(completed);
}

aio::Task<void> Adding::end(std::function<json::Object()> record) {
  MNET_FAILPOINT("sync-before-reply");
  const auto& attachments = networks_->attachments();
  const auto last = networks_->unwritten();
  AddEnd end;
  end.cni_dir = job_.conf.cni_dir;
  end.container_id = job_.request.container_id;
  for (std::size_t i = 0; i < attachments.size(); ++i) {
    if (i != last) end.in_place.push_back(attachments[i]->key());
  }
  end.result = [this] { return last_result(); };
  end.record = std::move(record);
  auto ended = co_await core_.ports.records.end_add(std::move(end));
  if (!ended)
    co_return model::core_error(std::move(ended).error(), job_.pod, "error saving the results");
  if (!ended->result) {
    co_return networks_->with_network(
        chain::not_remembered(std::move(ended->result).error(), *attachments[*last]), *last);
  }
  networks_->set_written();
  if (!ended->synced) {
    co_return model::core_error(std::move(ended->synced).error(), job_.pod,
                                "error saving the results");
  }
  MNET_CO_TRY_VOID(accept(ended->record));
  if (ended->record) co_return Result<void>();
  // What no record says would be lost with this process.
  if (!status_) co_return Result<void>();
  co_return co_await networks_->write_status(*std::exchange(status_, std::nullopt));
}

// The scratch file stays for the runtime's DEL; but a caller that is gone may never send one (03,
// 2.11), so then it goes, if nothing is left to delete.
aio::Task<void> Adding::undo() {
  auto undone = co_await networks_->take_down();
  RecordAccess access(core_, job_);
  if (undone && gone()) co_return co_await access.remove();
  ErrorList errors;
  errors.add(std::move(undone));
  auto marked = co_await forget_untouched(access);
  errors.add(std::move(marked));
  co_return errors.join(" / ");
}

// The DEL of a plugin that cannot be started would fail as its ADD did, for ever.
aio::Task<void> Adding::forget_untouched(RecordAccess access) {
  auto untouched = networks_->untouched();
  if (untouched.empty()) co_return Result<void>();
  MNET_CO_TRY(ContainerRecords record, co_await access.load_readable());
  if (!record.delegates) co_return Result<void>();
  co_return co_await access.mark_removed(std::move(record), std::move(untouched));
}

}  // namespace mnet::attach
