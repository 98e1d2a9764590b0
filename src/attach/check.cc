#include "attach/check.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "aio/cancel.h"
#include "aio/task.h"
#include "attach/container_records.h"
#include "attach/core.h"
#include "attach/plan.h"
#include "attach/recorded_attachments.h"
#include "attach/resolve.h"
#include "attach/source.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/chain.h"
#include "cni/version.h"
#include "model/attachment.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/event_reasons.h"
#include "model/messages.h"
#include "model/netconf.h"
#include "model/pod_args.h"

namespace mnet::attach {

using model::CheckNetworks;

namespace {

// Plugins of older versions do not know CHECK; the container is not at fault (02-F45).
bool can_be_checked(const model::Delegate& delegate) {
  if (delegate.removed || !delegate.list) return !delegate.removed;
  return cni::at_least(delegate.list->version, cni::kCheckSince) && !delegate.list->disable_check;
}

// A half-unplugged network need not be whole (05, 3.11).
bool is_going(const ContainerRecords& record, const std::string& ifname) {
  const model::RecordedAttachment* recorded =
      record.attachment_record ? record.attachment_record->find(ifname) : nullptr;
  return recorded != nullptr && recorded->state == model::AttachmentState::kRemoving;
}

}  // namespace

bool Checking::counts(std::size_t index) const {
  const auto mode = job_.conf.check_networks;
  if (index == 0 || mode == CheckNetworks::kAll) return true;
  return !mode && index < job_.conf.delegates.size();
}

aio::Task<std::size_t> Checking::run() {
  auto loaded = co_await access_.load();
  if (!loaded) co_return model::core_error(std::move(loaded).error(), job_.pod);
  ContainerRecords record = *std::move(loaded);
  if (!record.delegates) {
    Resolver resolver(core_, job_);
    auto delegates = co_await resolver.configured();
    if (!delegates) {
      co_return model::core_error(std::move(delegates).error(), job_.pod,
                                  "failed to get clusterNetwork");
    }
    record.delegates = *std::move(delegates);
  }
  const std::string master = record.master_ifname(job_.request.ifname);
  for (std::size_t i = 0; i < record.delegates->size(); ++i) {
    const model::Delegate& delegate = (*record.delegates)[i];
    const std::string ifname = model::interface_name(delegate, i, master);
    if (is_going(record, ifname)) continue;
    auto attachment =
        std::make_shared<const model::Attachment>(plan_again(job_, delegate, ifname, true));
    auto checking =
        counts(i) ? check_one(std::move(attachment)) : check_and_report(std::move(attachment));
    MNET_CO_TRY_VOID(co_await std::move(checking));
  }
  MNET_CO_TRY_VOID(co_await check_plugged_in(std::move(record)));
  co_return reported_;
}

aio::Task<void> Checking::check_plugged_in(ContainerRecords record) {
  if (!record.attachment_record) co_return Result<void>();
  for (const model::RecordedAttachment& recorded : record.attachment_record->attachments) {
    if (!is_plugged_in(recorded) || recorded.state != model::AttachmentState::kAttached) continue;
    const model::AttachmentPtr attachment =
        attachment_of(job_, *record.attachment_record, recorded, true);
    if (recorded.result) co_await access_.restore_result(attachment, *recorded.result);
    auto checking = job_.conf.check_networks == CheckNetworks::kAll ? check_one(attachment)
                                                                    : check_and_report(attachment);
    MNET_CO_TRY_VOID(co_await std::move(checking));
  }
  co_return Result<void>();
}

aio::Task<void> Checking::check_and_report(model::AttachmentPtr attachment) {
  if (job_.conf.check_networks == CheckNetworks::kPrimary) co_return Result<void>();
  auto checked = co_await check_one(attachment);
  if (checked) co_return Result<void>();
  if (checked.error().code() == Errc::kCancelled) co_return checked;
  co_await report(std::move(attachment), std::move(checked).error());
  co_return Result<void>();
}

aio::asio::awaitable<void> Checking::report(model::AttachmentPtr attachment, Error error) {
  ++reported_;
  const std::string what = cat("CHECK of network ", excerpt(attachment->delegate.name),
                               ", interface ", excerpt(attachment->ifname), " failed");
  job_.log.error(what, error);
  ObjectSource* source = core_.ports.source;
  if (source == nullptr || !job_.pod.named()) co_return;
  PodLookup lookup = job_.pod_lookup();
  lookup.once = true;
  auto pod = co_await source->find_pod(std::move(lookup));
  if (!pod || *pod == nullptr) co_return;
  source->send({.pod = *std::move(pod),
                .is_warning = true,
                .reason = model::kNetworkCheckFailed,
                .message = cat(what, ": ", error.text()),
                .request_id = job_.request.id});
}

aio::Task<void> Checking::check_one(model::AttachmentPtr attachment) {
  const model::Delegate& delegate = attachment->delegate;
  if (!can_be_checked(delegate)) co_return Result<void>();
  if (job_.request.caller->gone()) co_return model::core_error(aio::cancelled_error(), job_.pod);
  if (job_.log.writes(LogLevel::kVerbose)) {
    job_.log.verbatim(
        LogLevel::kVerbose,
        cat("Check: ", model::shown_name(job_.pod.ns), ":", model::shown_name(job_.pod.name), ":",
            excerpt(delegate.name), "(", excerpt(delegate.cni_name),
            "):", excerpt(attachment->ifname), job_.logged_config(delegate)));
  }
  chain::Chain chain = chain_of(core_, job_);
  auto checked = co_await chain.check(attachment);
  if (!checked) {
    co_return model::core_error(std::move(checked).error(), job_.pod,
                                cat("error checking network ", go_quoted(delegate.cni_name)));
  }
  co_return Result<void>();
}

}  // namespace mnet::attach
