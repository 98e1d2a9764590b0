#include "attach/network_attacher.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/cancel.h"
#include "aio/task.h"
#include "attach/add_report.h"
#include "attach/add_routes.h"
#include "attach/container_records.h"
#include "attach/core.h"
#include "attach/plan.h"
#include "attach/ports.h"
#include "attach/remove.h"
#include "attach/room.h"
#include "base/address_family.h"
#include "base/durability.h"
#include "base/error.h"
#include "base/result.h"
#include "base/try.h"
#include "chain/chain.h"
#include "cni/result.h"
#include "cni/version.h"
#include "json/json.h"
#include "model/attachment.h"
#include "model/attachment_record.h"
#include "model/default_routes.h"
#include "model/delegate.h"
#include "model/messages.h"
#include "model/network_status.h"
#include "model/objects.h"
#include "model/parallel.h"
#include "model/selection_element.h"

namespace mnet::attach {
namespace {

// A network that was merely told to stop has not failed.
const Error* first_failure(const std::vector<Result<void>>& ended, std::size_t& index) {
  const Error* found = nullptr;
  for (std::size_t i = 0; i < ended.size(); ++i) {
    if (ended[i]) continue;
    const bool stopped = ended[i].error().code() == Errc::kCancelled;
    if (found != nullptr && stopped) continue;
    found = &ended[i].error();
    index = i;
    if (!stopped) break;
  }
  return found;
}

}  // namespace

NetworkAttacher::NetworkAttacher(const Core& core, const Job& job, const model::PodObjectPtr& pod,
                                 std::vector<model::AttachmentPtr> attachments,
                                 model::RoutePlan routes)
    : core_(core),
      job_(job),
      pod_(pod),
      reporter_(core, job, pod),
      starter_(job.request.caller->companion()),
      chain_(chain_of(core, job, starter_)),
      attachments_(std::move(attachments)),
      routes_(routes),
      results_(attachments_.size()),
      device_infos_(attachments_.size()),
      touched_(attachments_.size()) {}

Error NetworkAttacher::with_network(const Error& error, std::size_t index) const {
  const model::Delegate& delegate = attachments_[index]->delegate;
  return model::add_error(model::with_master(error, delegate), job_.pod, delegate.cni_name);
}

Error NetworkAttacher::with_name(Error error, std::size_t index) const {
  const model::Attachment& attachment = *attachments_[index];
  return with_network(model::name_error(std::move(error), attachment.delegate, attachment.ifname),
                      index);
}

std::vector<std::string> NetworkAttacher::names_of(model::Batch batch) const {
  std::vector<std::string> names;
  for (std::size_t i = batch.first; i < batch.end; ++i) names.push_back(attachments_[i]->ifname);
  return names;
}

Result<void> NetworkAttacher::expect_free(const Result<TakenNames>& seen,
                                          model::Batch batch) const {
  if (!seen) return with_name(seen.error(), batch.first);
  if (seen->taken.empty()) return {};
  const std::string& name = seen->taken.front();
  std::size_t index = batch.first;
  while (attachments_[index]->ifname != name) ++index;
  return with_name(model::name_taken(name), index);
}

aio::Task<void> NetworkAttacher::run() {
  for (const model::Batch batch : model::batches_of(attachments_, job_.conf.parallel_attach)) {
    if (job_.request.caller->gone()) co_return model::core_error(aio::cancelled_error(), job_.pod);
    if (batch.first > 0) {  // the master's name has just been looked for, with all the others
      const auto seen = co_await core_.ports.links.look(job_.request.netns, names_of(batch));
      MNET_CO_TRY_VOID(expect_free(seen, batch));
    }
    const bool is_last = batch.size() == 1 && batch.end == attachments_.size();
    // Nothing but routes changes a result that a plugin has given.
    if (is_last && routes_.is_empty()) unwritten_ = batch.first;
    MNET_CO_TRY_VOID(co_await run_batch(batch));
  }
  co_return co_await settle_conditional_routes();
}

// Results count in the order of the list, in whatever order the networks end.
aio::Task<void> NetworkAttacher::run_batch(model::Batch batch) {
  std::vector<Result<void>> ended;
  if (batch.size() == 1) {
    auto attached = co_await attach_network(batch.first);
    ended.push_back(std::move(attached));
  } else {
    std::vector<aio::Task<void>> tasks;
    for (std::size_t i = batch.first; i < batch.end; ++i) tasks.push_back(attach_network(i));
    ended = co_await aio::all(std::move(tasks));
  }
  for (std::size_t i = 0; i < ended.size() && ended[i]; ++i) {
    MNET_CO_TRY_VOID(co_await follow_up(batch.first + i));
  }
  std::size_t index = 0;
  if (const Error* error = first_failure(ended, index)) {
    co_return with_network(*error, batch.first + index);
  }
  co_return Result<void>();
}

aio::Task<void> NetworkAttacher::attach_network(std::size_t index) {
  if (starter_->gone()) co_return aio::cancelled_error();
  const model::AttachmentPtr attachment = attachments_[index];
  co_await copy_device_info(attachment);
  const auto kept = index == unwritten_ ? std::nullopt : std::optional(Durability::kInPlace);
  bool has_run = false;
  touched_[index] = true;  // noted first: whatever ends the call, half its work may be there
  auto result = co_await chain_.add(attachment, kept, &has_run);
  touched_[index] = has_run;
  if (!result) {
    unwritten_.reset();  // there is nothing to write
    // No plugin starts any more, not even after one that runs in another chain.
    starter_->leave();
    if (!has_run) co_await Remover(core_, job_).remove_device_info(attachment);
    co_return co_await with_holder(std::move(result).error(), attachment);
  }
  results_[index] = *std::move(result);
  log_added(job_, pod_, *attachment, results_[index]);
  // Only the status shows it.
  if (pod_ != nullptr) {
    device_infos_[index] = co_await reporter_.find_device_info(attachment->capability_args);
  }
  co_return Result<void>();
}

// Does what follows from this network being there, after all before it. A result without content
// has no consequences, and one that cannot be converted fails later, with the statuses.
aio::Task<void> NetworkAttacher::follow_up(std::size_t index) {
  if (routes_.is_empty() || !results_[index].has_content()) co_return Result<void>();
  if (!cni::convert(results_[index], cni::kCurrentVersion)) co_return Result<void>();
  co_return co_await edit_routes(index, certain_edit(routes_, index));
}

aio::Task<void> NetworkAttacher::edit_routes(std::size_t index, model::RouteEdit edit) {
  if (edit.remove.empty()) co_return Result<void>();
  RouteEditor editor(core_, job_, names_of(all()));
  MNET_CO_TRY_VOID(co_await editor.edit(attachments_[index], edit));
  edit_result(results_[index], edit);
  co_return Result<void>();
}

// Whether a network that named no gateway has a default route shows only now (02, 5.1 step 8).
aio::Task<void> NetworkAttacher::settle_conditional_routes() {
  if (routes_.is_empty()) co_return Result<void>();
  RouteEditor editor(core_, job_, {});
  MNET_CO_TRY(auto&& families, co_await editor.fulfilled(routes_, attachments_));
  for (std::size_t i = 0; i < attachments_.size(); ++i) {
    model::RouteEdit edit;
    for (const AddressFamily family : families) {
      if (routes_.owner(family)->index != i) edit.remove.push_back(family);
    }
    if (!results_[i].has_content()) continue;
    MNET_CO_TRY_VOID(co_await edit_routes(i, std::move(edit)));
  }
  co_return Result<void>();
}

// Pods may share a claim; a device that a plugin has moved into one of them is gone for the others
// (02, 8.1).
aio::asio::awaitable<Error> NetworkAttacher::with_holder(Error error,
                                                         model::AttachmentPtr attachment) {
  const std::string& device = attachment->delegate.selection.device_id;
  if (device.empty() || error.code() == Errc::kCancelled) co_return error;
  const auto ids = co_await core_.ports.records.list(job_.conf.cni_dir);
  if (!ids) co_return error;
  // Many ADDs may fail at once, and tenants choose how large records are: the message can do
  // without those.
  const std::size_t most = core_.ports.room == nullptr ? kAnyWeight : core_.ports.room->free();
  for (const std::string& id : *ids) {
    if (job_.request.caller->gone()) break;
    if (id == job_.request.container_id) continue;
    const auto stored =
        co_await core_.ports.records.load(job_.conf.cni_dir, id, RecordParts::kRecord, most);
    if (!stored || !stored->record || !*stored->record) continue;
    const auto record = model::decode_record(**stored->record);
    if (!record) continue;
    const bool is_holder = std::ranges::any_of(
        record->attachments, [&device](const auto& one) { return one.device_id == device; });
    if (!is_holder) continue;
    job_.log.verbose(cat("device ", excerpt(device), " is held by pod ", record->pod_ns, "/",
                         record->pod_name, ", container ", id));
    co_return model::held_error(error, device, *record, job_.pod.ns);
  }
  co_return error;
}

aio::asio::awaitable<void> NetworkAttacher::copy_device_info(model::AttachmentPtr attachment) {
  const model::NetworkSelectionElement& selection = attachment->delegate.selection;
  const std::string path = device_info_file(attachment->capability_args);
  if (selection.resource_name.empty() || selection.device_id.empty() || path.empty()) co_return;
  auto copied =
      co_await core_.ports.device_infos.copy(selection.resource_name, selection.device_id, path);
  if (!copied) job_.log.error("cannot copy device information", copied.error());
}

aio::Task<std::optional<std::string>> NetworkAttacher::status() {
  if (pod_ == nullptr) co_return std::optional<std::string>();
  std::vector<model::NetworkStatus> all;
  for (std::size_t i = 0; i < attachments_.size(); ++i) {
    const model::Delegate& delegate = attachments_[i]->delegate;
    MNET_CO_TRY(auto&& statuses, reporter_.statuses_of(results_[i], delegate.name,
                                                       delegate.is_master, device_infos_[i]));
    std::ranges::move(statuses, std::back_inserter(all));
  }
  co_return co_await reporter_.text_of(std::move(all));
}

void NetworkAttacher::announce() const {
  std::vector<AddedInterface> added;
  for (std::size_t i = 0; i < attachments_.size(); ++i) {
    if (!results_[i].has_content()) continue;
    auto newest = cni::convert(results_[i], cni::kCurrentVersion);
    if (newest) added.push_back({.attachment = attachments_[i], .newest = *std::move(newest)});
  }
  reporter_.send_added(added);
}

aio::Task<void> NetworkAttacher::take_down() {
  // DEL hands the result to the plugins; a network that never ran has none.
  if (unwritten_ && touched_[*unwritten_] && results_[*unwritten_].has_content()) {
    RecordAccess access(core_, job_);
    co_await access.restore_result(attachments_[*unwritten_], cni::to_json(results_[*unwritten_]));
  }
  std::vector<model::AttachmentPtr> touched;
  for (std::size_t i = 0; i < attachments_.size(); ++i) {
    if (touched_[i]) touched.push_back(attachments_[i]);
  }
  Remover remover(core_, job_);
  const Removal removal = co_await remover.remove(std::move(touched));
  co_return removal.complete();
}

std::set<std::string> NetworkAttacher::untouched() const {
  std::set<std::string> names;
  for (std::size_t i = 0; i < attachments_.size(); ++i) {
    if (!touched_[i]) names.insert(attachments_[i]->ifname);
  }
  return names;
}

}  // namespace mnet::attach
