// The middle of an ADD: its networks are attached, batch by batch, and what follows from each
// result is done in the order of the list (02, 5.1 steps 7 to 9).
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/cancel.h"
#include "aio/task.h"
#include "attach/add.h"
#include "attach/add_report.h"
#include "attach/add_routes.h"
#include "attach/plan.h"
#include "attach/ports.h"
#include "attach/source.h"
#include "base/error.h"
#include "base/result.h"
#include "base/try.h"
#include "chain/chain.h"
#include "cni/result.h"
#include "cni/version.h"
#include "json/json.h"
#include "model/delegate.h"
#include "model/messages.h"
#include "model/network_status.h"
#include "model/parallel.h"
#include "model/selection_element.h"

namespace mnet::attach {
namespace {

// Who was only told to stop did not fail.
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

aio::Task<void> Adding::build() {
  for (const model::Batch batch : model::batches_of(attachments_, job_.conf.parallel_attach)) {
    if (gone()) co_return model::core_error(aio::cancelled_error(), job_.pod);
    if (batch.first > 0) {  // the master's name has just been looked for, with all the others
      MNET_CO_TRY_VOID(co_await expect_free(batch));
    }
    const bool is_last = batch.size() == 1 && batch.end == attachments_.size();
    if (is_last && ends_with_result()) last_ = batch.first;
    MNET_CO_TRY_VOID(co_await attach_batch(batch));
  }
  co_return co_await settle_conditional_routes();
}

// Results count in the order of the list, whoever ends first.
aio::Task<void> Adding::attach_batch(model::Batch batch) {
  std::vector<Result<void>> ended;
  if (batch.size() == 1) {
    auto attached = co_await attach_one(batch.first);
    ended.push_back(std::move(attached));
  } else {
    std::vector<aio::Task<void>> tasks;
    for (std::size_t i = batch.first; i < batch.end; ++i) tasks.push_back(attach_one(i));
    ended = co_await aio::all(std::move(tasks));
  }
  for (std::size_t i = 0; i < ended.size() && ended[i]; ++i) {
    MNET_CO_TRY_VOID(co_await settle(batch.first + i));
  }
  std::size_t index = 0;
  if (const Error* error = first_failure(ended, index)) {
    co_return with_network(*error, batch.first + index);
  }
  co_return Result<void>();
}

aio::Task<void> Adding::attach_one(std::size_t index) {
  auto added = co_await add_one(index);
  // No plugin starts any more, also none behind the one that runs in another chain.
  if (!added) starter_->leave();
  co_return added;
}

aio::Task<void> Adding::add_one(std::size_t index) {
  if (starter_->gone()) co_return aio::cancelled_error();
  // Noted before the call: a plugin that fails may still have left half its work behind.
  touched_[index] = true;
  const model::AttachmentPtr attachment = attachments_[index];
  co_await copy_device_info(attachment);
  auto adding = index == last_ ? chain_.add_only(attachment) : chain_.add(attachment);
  auto result = co_await std::move(adding);
  if (!result) {
    last_.reset();  // there is nothing to write
    co_return std::move(result).error();
  }
  results_[index] = *std::move(result);
  log_added(job_, pod_, *attachment, results_[index]);
  // Only the status tells of it.
  if (pod_ != nullptr) {
    device_infos_[index] = co_await find_device_info(attachment->capability_args);
  }
  co_return Result<void>();
}

// What has happened now that this network is there, and all before it. A result without content has
// no consequences, and one that cannot be converted fails later, with the statuses.
aio::Task<void> Adding::settle(std::size_t index) {
  if (pod_ == nullptr && routes_.is_empty()) co_return Result<void>();
  if (!results_[index].has_content()) co_return Result<void>();
  const auto newest = cni::convert(results_[index], cni::kCurrentVersion);
  if (!newest) co_return Result<void>();
  MNET_CO_TRY_VOID(co_await edit_routes(index, certain_edit(routes_, index)));
  send_event(index, *newest);
  co_return Result<void>();
}

void Adding::send_event(std::size_t index, const cni::NetResult& newest) {
  if (pod_ == nullptr) return;
  PodEvent event;
  event.pod = pod_;
  event.reason = "AddedInterface";
  event.message =
      added_interface(newest, attachments_[index]->ifname, attachments_[index]->delegate.name);
  core_.ports.source->send(std::move(event));
}

aio::Task<void> Adding::edit_routes(std::size_t index, model::RouteEdit edit) {
  if (edit.remove.empty()) co_return Result<void>();
  std::vector<std::string> ifnames;
  ifnames.reserve(attachments_.size());
  for (const model::AttachmentPtr& attachment : attachments_) ifnames.push_back(attachment->ifname);
  RouteEditor editor(core_, job_, std::move(ifnames));
  MNET_CO_TRY_VOID(co_await editor.edit(attachments_[index], edit));
  edit_result(results_[index], edit);
  co_return Result<void>();
}

// Whether a network that named no gateway has a default route shows only now (02, 5.1 step 8).
aio::Task<void> Adding::settle_conditional_routes() {
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

aio::Task<void> Adding::report() {
  if (gone()) co_return model::core_error(aio::cancelled_error(), job_.pod);
  if (pod_ == nullptr) co_return Result<void>();
  std::vector<model::NetworkStatus> all;
  for (std::size_t i = 0; i < attachments_.size(); ++i) {
    const model::Delegate& delegate = attachments_[i]->delegate;
    auto statuses =
        model::network_statuses(results_[i], delegate.name, delegate.is_master, device_infos_[i]);
    if (!statuses) {
      co_return model::core_error(std::move(statuses).error(), job_.pod,
                                  "error setting network statuses");
    }
    for (model::NetworkStatus& status : *statuses) all.push_back(std::move(status));
  }
  co_return co_await write_status(std::move(all));
}

aio::Task<void> Adding::write_status(std::vector<model::NetworkStatus> statuses) {
  if (statuses.empty()) co_return Result<void>();
  auto written = co_await core_.ports.source->write_status(pod_, model::annotation_text(statuses));
  if (!written) {
    co_return model::core_error(std::move(written).error(), job_.pod,
                                "error setting the networks status");
  }
  co_return Result<void>();
}

aio::asio::awaitable<void> Adding::copy_device_info(model::AttachmentPtr attachment) {
  const model::NetworkSelectionElement& selection = attachment->delegate.selection;
  const std::string path = device_info_file(attachment->capability_args);
  if (selection.resource_name.empty() || selection.device_id.empty() || path.empty()) co_return;
  auto copied =
      co_await core_.ports.device_infos.copy(selection.resource_name, selection.device_id, path);
  if (!copied) job_.log.error("copying device information", copied.error());
}

aio::asio::awaitable<std::optional<json::Object>> Adding::find_device_info(
    json::Object capability_args) {
  const std::string path = device_info_file(capability_args);
  if (path.empty()) co_return std::nullopt;
  auto found = co_await core_.ports.device_infos.find(path);
  if (found) co_return *std::move(found);
  job_.log.error("reading device information", found.error());
  co_return std::nullopt;
}

}  // namespace mnet::attach
