#include "hotplug/plug_in.h"

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/cancel.h"
#include "aio/task.h"
#include "attach/add_report.h"
#include "attach/core.h"
#include "attach/plan.h"
#include "attach/ports.h"
#include "attach/recorded_attachments.h"
#include "attach/room.h"
#include "attach/source.h"
#include "base/clock.h"
#include "base/durability.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/chain.h"
#include "cni/result.h"
#include "cni/version.h"
#include "hotplug/attributes.h"
#include "hotplug/container.h"
#include "json/count.h"
#include "json/json.h"
#include "model/attachment.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/inject.h"
#include "model/messages.h"
#include "model/network_status.h"
#include "model/status_edit.h"

namespace mnet::hotplug {
namespace {

// The attributes that a client may request (05, R3).
constexpr std::array<std::string_view, 3> kCompared = {"ips", "mac", "cni-args"};

// As much as an ADD may bring at once, twice: every operation on the container, and every start of
// the daemon, reads the whole record.
constexpr std::size_t kMostOfRecord = 2 * attach::kLargestWeight;

Result<void> expect_small(const model::AttachmentRecord& record) {
  const json::Count count = json::count(json::dump(model::encode_record(record)));
  const model::Weight weight{.bytes = count.bytes, .values = count.values};
  if (weight.total() <= kMostOfRecord) return {};
  return Error(
      Errc::kDenied,
      cat("the configurations of the pod's networks are too large together (", weight.total(),
          " bytes, at most ", kMostOfRecord, "); remove one of them first"));
}

}  // namespace

Error PlugIn::with_network(const Error& error) const {
  const model::Delegate& delegate = container_.job.delegate;
  return model::add_error(model::with_master(error, delegate), container_.job.base.pod,
                          delegate.cni_name);
}

aio::Task<cni::NetResult> PlugIn::run() {
  if (gone()) co_return container_.failed(aio::cancelled_error());
  MNET_CO_TRY_VOID(co_await container_.find());
  MNET_CO_TRY(auto&& recorded, co_await settle_recorded());
  if (recorded) co_return *std::move(recorded);

  const attach::Job& job = container_.job.base;
  MNET_CO_TRY(auto&& planned, attach::plan_add(job, {container_.job.delegate}));
  attachment_ = planned.front();
  running_.plan({{job.request.container_id, container_.ifname()}});
  auto free = co_await expect_free();
  if (!free) co_return with_network(free.error());
  // Recorded only if a plugin can start: rolling back what never ran could never succeed (3.7).
  chain::Chain chain = attach::chain_of(container_.core, job);
  auto installed = co_await chain.expect_plugin(attachment_);
  if (!installed) co_return with_network(installed.error());
  if (gone()) co_return container_.failed(aio::cancelled_error());
  co_return co_await attach();
}

// The interface is there already: yields its result if it is the one that is asked for. Removes
// first what an interrupted operation left behind (05, 3.10); nothing of that counts.
aio::Task<std::optional<cni::NetResult>> PlugIn::settle_recorded() {
  const std::string& ifname = container_.ifname();
  const model::RecordedAttachment* there = container_.recorded();
  if (there == nullptr) co_return std::optional<cni::NetResult>();
  if (there->state != model::AttachmentState::kAttached && attach::is_plugged_in(*there)) {
    MNET_CO_TRY_VOID(co_await clear_away());
    co_return std::optional<cni::NetResult>();
  }
  if (!is_the_same(*there)) {
    co_return with_network(
        model::name_error(model::name_taken(ifname), container_.job.delegate, ifname));
  }
  auto result = cni::read_result(*there->result);
  if (!result) co_return container_.failed(std::move(result).error());
  container_.job.base.log.verbose(cat("ADD repeated for interface ", ifname, " of container ",
                                      container_.job.base.request.container_id,
                                      ": answered from the record"));
  co_return std::optional<cni::NetResult>(*std::move(result));
}

bool PlugIn::is_the_same(const model::RecordedAttachment& there) const {
  const Job& job = container_.job;
  if (there.source == model::Source::kCluster || there.state != model::AttachmentState::kAttached)
    return false;
  if (!there.result || there.cni_name != job.delegate.cni_name) return false;
  if (there.config_hash != job.delegate.config_hash && there.config_hash != job.unfilled_hash) {
    return false;
  }
  return equal_attributes(there.attributes, job.delegate.attributes, kCompared);
}

aio::Task<void> PlugIn::clear_away() {
  auto deleted = co_await container_.take_down(
      attach::attachment_of(container_.job.base, container_.record, *container_.recorded(), false));
  if (!deleted) {
    co_return container_.failed(std::move(deleted).error().wrap(
        cat("an earlier ADD of interface ", container_.ifname(), " could not be undone")));
  }
  container_.drop();
  auto saved = co_await container_.save();
  if (!saved) co_return container_.not_saved(std::move(saved).error());
  co_return Result<void>();
}

// A link that is there already is not ours, and stays untouched (02, 5.1 step 7b; 02-F54).
aio::Task<void> PlugIn::expect_free() {
  const std::string& ifname = container_.ifname();
  const model::Delegate& delegate = container_.job.delegate;
  auto seen =
      co_await container_.core.ports.links.look(container_.job.base.request.netns, {ifname});
  if (!seen) co_return model::name_error(std::move(seen).error(), delegate, ifname);
  if (!seen->taken.empty())
    co_return model::name_error(model::name_taken(ifname), delegate, ifname);
  if (container_.record.netns_inode == 0) container_.record.netns_inode = seen->netns.inode;
  co_return Result<void>();
}

// Recorded before the plugin starts, and with its result before the answer: whatever happens in
// between, the container's DEL knows of it (R2).
aio::Task<cni::NetResult> PlugIn::attach() {
  container_.record.attachments.push_back(attach::begin_attachment(*attachment_));
  if (container_.job.is_by_annotation) {
    container_.record.attachments.back().auto_name = container_.job.auto_name;
    container_.record.status_behind = true;
  }
  if (auto fits = expect_small(container_.record); !fits) {
    container_.drop();
    co_return with_network(fits.error());
  }
  auto saved = co_await container_.save();
  if (!saved) co_return container_.not_saved(std::move(saved).error());

  auto result = co_await run_plugins();
  if (!result) {
    // The caller may be gone by now; what was attached is removed regardless.
    auto undone = co_await aio::shielded(undo());
    if (!undone) container_.job.base.log.error("rollback is incomplete", undone.error());
    co_return std::move(result).error();
  }
  announce(*result);
  auto kept = co_await add_status(*result);
  container_.note_status(kept);
  co_return result;
}

aio::Task<cni::NetResult> PlugIn::run_plugins() {
  chain::Chain chain = attach::chain_of(container_.core, container_.job.base);
  auto result = co_await chain.add(attachment_, Durability::kDurable, &has_run_);
  if (!result) co_return with_network(result.error());
  // A result whose version cannot be converted does not count (02, 5.1).
  auto newest = cni::convert(*result, cni::kCurrentVersion);
  if (!newest) co_return container_.failed(std::move(newest).error());
  attach::log_added(container_.job.base, container_.pod, *attachment_, *result);
  model::RecordedAttachment& one = *container_.recorded();
  one.result = json::Value(cni::to_json(*result));
  one.state = model::AttachmentState::kAttached;
  one.added_at = rfc3339_utc(WallClock::system().now());
  one.link_index = co_await container_.find_link();
  auto saved = co_await container_.save();
  if (!saved)
    co_return container_.failed(std::move(saved).error().wrap("error saving the results"));
  // A caller that left while we worked does not get this answer, so it does not know of the
  // interface.
  if (gone()) co_return container_.failed(aio::cancelled_error());
  co_return result;
}

// Only this one (05, 3.7). What cannot be removed now stays on record for the container's
// DEL.
aio::Task<void> PlugIn::undo() {
  model::Attachment again = *attachment_;
  again.args = container_.job.base.args;  // requested addresses are for ADD only (02, 6.3)
  Result<void> deleted;
  if (has_run_) {
    deleted =
        co_await container_.take_down(std::make_shared<const model::Attachment>(std::move(again)));
  }
  if (deleted) {
    container_.drop();
  } else {
    container_.recorded()->state = model::AttachmentState::kRemoving;
  }
  auto saved = co_await container_.save();
  if (!deleted) co_return deleted;
  co_return saved;
}

void PlugIn::announce(const cni::NetResult& result) {
  if (!result.has_content()) return;
  auto newest = cni::convert(result, cni::kCurrentVersion);
  if (!newest) return;
  attach::Reporter reporter(container_.core, container_.job.base, container_.pod);
  reporter.send_added({{.attachment = attachment_, .newest = *newest}});
}

aio::Task<void> PlugIn::add_status(cni::NetResult result) {
  if (!container_.keeps_status()) co_return Result<void>();
  MNET_CO_TRY(auto&& added,
              model::network_statuses(result, container_.job.delegate.name, false, std::nullopt));
  if (added.empty()) co_return Result<void>();
  attach::ObjectSource& source = *container_.core.ports.source;
  MNET_CO_TRY(auto&& present, co_await source.find_status(container_.pod));
  MNET_CO_TRY(auto&& text, model::with_statuses(present, added));
  attach::Reporter(container_.core, container_.job.base, container_.pod).tell_shortcomings(text);
  co_return co_await source.write_status(container_.pod, text.text(), container_.job.base.log);
}

}  // namespace mnet::hotplug
