#include "hotplug/unplug.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/core.h"
#include "attach/plan.h"
#include "attach/recorded_attachments.h"
#include "attach/source.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/result.h"
#include "hotplug/container.h"
#include "json/json.h"
#include "model/attachment.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/status_edit.h"

namespace mnet::hotplug {
namespace {

// Names under which an attachment stands in the network status: an empty one if its result lists no
// interface (02, 2.4).
std::vector<std::string> status_names_of(const model::RecordedAttachment& attachment) {
  std::vector<std::string> names = attach::interfaces_of(attachment);
  auto result = cni::read_result(attachment.result.value_or(json::Object()));
  if (result && result->interfaces.empty()) names.emplace_back();
  return names;
}

}  // namespace

aio::Task<void> Unplug::run() {
  MNET_CO_TRY_VOID(co_await container_.find());
  const std::string& ifname = container_.ifname();
  const model::Delegate& delegate = container_.job.delegate;
  const model::RecordedAttachment* there = container_.recorded();
  if (there != nullptr && there->source == model::Source::kCluster) {
    co_return container_.failed(
        Error(Errc::kDenied,
              cat("interface ", ifname, " belongs to the cluster network and cannot be removed")));
  }
  // A client that takes back an ADD that was refused must not remove another network's (R4).
  const bool is_foreign =
      there == nullptr ? is_part_of_another() : there->cni_name != delegate.cni_name;
  if (is_foreign) {
    container_.job.base.log.verbose(cat("DEL of network ", go_quoted(delegate.cni_name),
                                        " leaves interface ", ifname,
                                        " alone: it belongs to another network"));
    co_return Result<void>();
  }
  if (there != nullptr) {
    co_return co_await remove_recorded();
  }
  // It is not recorded; CNI's DEL does no harm to what is not there (R5). A type that pods may not
  // select is not run even so: its ADD was refused, and the configuration is a tenant's.
  auto allowed =
      model::check_allowed_types(delegate, container_.job.base.conf.allowed_plugin_types);
  if (!allowed) {
    container_.job.base.log.error(
        cat("DEL of network ", go_quoted(delegate.cni_name), " runs nothing"), allowed.error());
    co_return Result<void>();
  }
  auto deleted = co_await container_.take_down(std::make_shared<const model::Attachment>(
      attach::plan_again(container_.job.base, delegate, ifname, false)));
  if (!deleted) co_return container_.failed(std::move(deleted).error());
  co_return Result<void>();
}

// An interface that came with another attachment and goes with it.
bool Unplug::is_part_of_another() const {
  return std::ranges::any_of(container_.record.attachments,
                             [&](const model::RecordedAttachment& one) {
                               const std::vector<std::string> names = attach::interfaces_of(one);
                               return std::ranges::find(names, container_.ifname()) != names.end();
                             });
}

// With what was recorded, whatever the request says (R6).
aio::Task<void> Unplug::remove_recorded() {
  model::RecordedAttachment& there = *container_.recorded();
  const model::AttachmentPtr attachment =
      attach::attachment_of(container_.job.base, container_.record, there, false);
  there.state = model::AttachmentState::kRemoving;
  const model::RecordedAttachment removed = there;
  auto saved = co_await container_.save();
  if (!saved) co_return container_.not_saved(std::move(saved).error());
  if (removed.result) co_await container_.access.restore_result(attachment, *removed.result);

  auto deleted = co_await container_.take_down(attachment);
  if (!deleted) co_return container_.failed(std::move(deleted).error());
  saved = co_await unlist();
  if (!saved) co_return container_.not_saved(std::move(saved).error());
  container_.drop();
  saved = co_await container_.save();
  if (!saved) co_return container_.not_saved(std::move(saved).error());
  auto kept = co_await drop_status(removed);
  container_.note_status(kept);
  co_return Result<void>();
}

// Out of the scratch file, which the container's DEL and CHECK work from. Names of the others
// derive from their places, which shift now: each gets its own in words first (R2).
aio::Task<void> Unplug::unlist() {
  if (!container_.records.delegates) co_return Result<void>();
  const std::vector<model::Delegate>& all = *container_.records.delegates;
  std::vector<model::Delegate> rest;
  for (std::size_t i = 0; i < all.size(); ++i) {
    model::Delegate delegate = all[i];
    if (i > 0) {
      std::string name = model::interface_name(delegate, i, {});
      if (name == container_.ifname()) continue;
      delegate.selection.ifname = std::move(name);
    }
    rest.push_back(std::move(delegate));
  }
  if (rest.size() == all.size()) co_return Result<void>();
  co_return co_await container_.access.save_delegates(std::move(rest));
}

aio::Task<void> Unplug::drop_status(model::RecordedAttachment removed) {
  if (!container_.keeps_status()) co_return Result<void>();
  attach::ObjectSource& source = *container_.core.ports.source;
  MNET_CO_TRY(auto&& present, co_await source.find_status(container_.pod));
  if (!present) co_return Result<void>();
  MNET_CO_TRY(auto&& text,
              model::without_statuses(*present, removed.network, status_names_of(removed)));
  if (!text) co_return Result<void>();
  co_return co_await source.write_status(container_.pod, *std::move(text));
}

}  // namespace mnet::hotplug
