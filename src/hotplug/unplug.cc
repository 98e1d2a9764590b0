#include "hotplug/unplug.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/core.h"
#include "attach/plan.h"
#include "attach/ports.h"
#include "attach/recorded_attachments.h"
#include "attach/source.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "hotplug/container.h"
#include "model/attachment.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/status_edit.h"

namespace mnet::hotplug {
aio::Task<void> Unplug::run() {
  MNET_CO_TRY_VOID(co_await container_.find());
  const std::string& ifname = container_.ifname();
  const model::Delegate& delegate = container_.job.delegate;
  const model::RecordedAttachment* there = container_.recorded();
  if (there != nullptr) {
    auto may_go = check_protected(*there);
    if (!may_go) co_return container_.failed(std::move(may_go).error());
  }
  // A client that takes back an ADD which was refused must not remove another network's interface
  // (R4).
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
  // It is not recorded; a CNI DEL of something that does not exist does no harm (R5). Even so, a
  // type that pods may not select is not run: its ADD was refused, and the configuration is a
  // tenant's.
  auto allowed =
      model::check_allowed_types(delegate, container_.job.base.conf.allowed_plugin_types);
  if (!allowed) {
    container_.job.base.log.error(
        cat("DEL of network ", go_quoted(delegate.cni_name), " runs no plugin"), allowed.error());
    co_return Result<void>();
  }
  auto deleted = co_await container_.take_down(std::make_shared<const model::Attachment>(
      attach::plan_again(container_.job.base, delegate, ifname, false)));
  if (!deleted) co_return container_.failed(std::move(deleted).error());
  co_return Result<void>();
}

// An external controller would unplug networks that no element of the annotation names (R11; P7).
Result<void> Unplug::check_protected(const model::RecordedAttachment& there) const {
  const std::string& ifname = container_.ifname();
  if (there.source == model::Source::kCluster) {
    return Error(Errc::kDenied, cat("interface ", ifname,
                                    " belongs to the cluster network and cannot be removed"));
  }
  const bool is_configured =
      there.source == model::Source::kDefaultNetworks || there.source == model::Source::kAuxChain;
  if (!container_.core.options.has_hotplug || !is_configured) return {};
  return Error(Errc::kDenied, cat("interface ", ifname,
                                  " belongs to a network that the node's configuration gives to "
                                  "every pod, and cannot be removed"));
}

aio::Task<void> Unplug::run_by_annotation() {
  MNET_CO_TRY_VOID(co_await container_.find());
  if (container_.recorded() == nullptr) co_return Result<void>();
  MNET_CO_TRY_VOID(check_protected(*container_.recorded()));
  co_return co_await remove_recorded();
}

// DEL is by name. A link that another program has renamed survives it, or makes it fail; under its
// old name it goes (kubevirt#14074).
aio::Task<void> Unplug::take_down(model::AttachmentPtr attachment, std::uint64_t link_index) {
  auto deleted = co_await container_.take_down(attachment);
  auto found = co_await find_survivor(link_index);
  if (!found && !deleted) co_return deleted;
  MNET_CO_TRY(const auto& survivor, std::move(found));
  if (!survivor || *survivor == attachment->ifname) co_return deleted;
  container_.job.base.log.warning(cat("the link of interface ", attachment->ifname,
                                      " still exists after its DEL, now named ", excerpt(*survivor),
                                      ": renaming it and repeating the DEL"));
  auto renamed = co_await container_.core.ports.link_names->rename(attachment->netns, link_index,
                                                                   attachment->ifname);
  if (!renamed && !deleted) co_return deleted;
  if (!renamed) {
    co_return std::move(renamed).error().wrap(
        cat("the link was renamed to ", excerpt(*survivor), " and survived DEL"));
  }
  MNET_CO_TRY_VOID(co_await container_.take_down(attachment));
  MNET_CO_TRY(const auto& still, co_await find_survivor(link_index));
  if (!still) co_return Result<void>();
  co_return Error(Errc::kConflict,
                  cat("the link was renamed to ", excerpt(*survivor), " and survived two DELs"));
}

// The present name of the link that the attachment had; none if it is gone, alone or with the
// namespace.
aio::Task<std::optional<std::string>> Unplug::find_survivor(std::uint64_t link_index) {
  attach::LinkNames* names = container_.core.ports.link_names;
  if (link_index == 0 || names == nullptr) co_return std::optional<std::string>();
  const auto links = co_await names->list(container_.job.base.request.netns);
  if (!links && !is_no_namespace(links.error())) {
    co_return links.error().wrap("cannot tell whether the link is gone");
  }
  if (!links) co_return std::optional<std::string>();
  const auto found = std::ranges::find(*links, link_index, &attach::Link::index);
  if (found == links->end()) co_return std::optional<std::string>();
  co_return std::optional<std::string>(found->name);
}

// An interface that came with another attachment, and goes only with that one.
bool Unplug::is_part_of_another() const {
  return std::ranges::any_of(container_.record.attachments,
                             [&](const model::RecordedAttachment& one) {
                               const std::vector<std::string> names = attach::interfaces_of(one);
                               return std::ranges::find(names, container_.ifname()) != names.end();
                             });
}

// Works with what was recorded, whatever the request says (R6).
aio::Task<void> Unplug::remove_recorded() {
  model::RecordedAttachment& there = *container_.recorded();
  const model::AttachmentPtr attachment =
      attach::attachment_of(container_.job.base, container_.record, there, false);
  there.state = model::AttachmentState::kRemoving;
  container_.record.status_behind |= container_.job.is_by_annotation;
  const model::RecordedAttachment removed = there;
  auto saved = co_await container_.save();
  if (!saved) co_return container_.not_saved(std::move(saved).error());
  if (removed.result) co_await container_.access.restore_result(attachment, *removed.result);

  auto deleted = co_await take_down(attachment, removed.link_index);
  if (!deleted) co_return container_.failed(std::move(deleted).error());
  saved = co_await unlist();
  if (!saved) co_return container_.not_saved(std::move(saved).error());
  container_.drop();
  if (container_.job.is_by_annotation) {
    container_.record.stale_statuses.push_back(status_of(removed));
  }
  saved = co_await container_.save();
  if (!saved) co_return container_.not_saved(std::move(saved).error());
  auto kept = co_await drop_status(removed);
  container_.note_status(kept);
  co_return Result<void>();
}

// Takes it out of the scratch file, from which the container's DEL and CHECK work. The names of the
// others derive from their places, which shift now: so each gets its name in words first (R2).
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
              model::without_statuses(*present, removed.network, status_of(removed).ifnames));
  if (!text) co_return Result<void>();
  co_return co_await source.write_status(container_.pod, *std::move(text), container_.job.base.log);
}

}  // namespace mnet::hotplug
