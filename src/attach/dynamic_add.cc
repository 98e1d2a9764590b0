// ADD of one network for a container that runs.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/cancel.h"
#include "aio/task.h"
#include "attach/add_record.h"
#include "attach/add_report.h"
#include "attach/containers.h"
#include "attach/core.h"
#include "attach/dynamic.h"
#include "attach/plan.h"
#include "attach/ports.h"
#include "attach/recorded_attachments.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/chain.h"
#include "cni/result.h"
#include "cni/version.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/messages.h"

namespace mnet::attach {
namespace {

bool is_nothing(const json::Value& value) {
  if (value.is_null()) return true;
  if (value.as_string() != nullptr) return value.as_string()->empty();
  if (value.as_array() != nullptr) return value.as_array()->empty();
  return value.as_object() != nullptr && value.as_object()->empty();
}

json::Value attribute_in(const json::Object& attributes, std::string_view key) {
  const json::Value* value = attributes.find(key);
  return value == nullptr || is_nothing(*value) ? json::Value() : *value;
}

// What a client can wish; absent equals empty (05, R3).
bool equal_attributes(const json::Object& a, const json::Object& b) {
  constexpr std::array<std::string_view, 3> kCompared = {"ips", "mac", "cni-args"};
  return std::ranges::all_of(kCompared, [&](std::string_view key) {
    return attribute_in(a, key) == attribute_in(b, key);
  });
}

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): its owner awaits this.
aio::Task<cni::NetResult> Dynamic::add(Containers::RunningAdd& running) {
  if (job_.request.caller->gone()) co_return failed(aio::cancelled_error());
  MNET_CO_TRY_VOID(co_await find_pod());
  MNET_CO_TRY_VOID(co_await load());
  MNET_CO_TRY(auto&& recorded, co_await settle_recorded());
  if (recorded) co_return *std::move(recorded);

  MNET_CO_TRY(auto&& planned, plan_add(job_, {delegate_}));
  attachment_ = planned.front();
  running.plan({{job_.request.container_id, ifname()}});
  auto free = co_await expect_free();
  if (!free) co_return model::add_error(std::move(free).error(), job_.pod, delegate_.cni_name);
  // Not recorded before something can start: the undo of what never ran could not end (3.7).
  chain::Chain chain = chain_of(core_, job_);
  auto installed = co_await chain.expect_plugin(attachment_);
  if (!installed)
    co_return model::add_error(std::move(installed).error(), job_.pod, delegate_.cni_name);
  if (job_.request.caller->gone()) co_return failed(aio::cancelled_error());
  co_return co_await attach();
}

// One that is there already: its result if it is the one that is asked for. What an operation that
// was cut off left behind is taken down first (05, 3.10); nothing of it counts.
aio::Task<std::optional<cni::NetResult>> Dynamic::settle_recorded() {
  const model::RecordedAttachment* there = attachment_record_.find(ifname());
  if (there == nullptr) co_return std::optional<cni::NetResult>();
  if (there->state != model::AttachmentState::kAttached && is_plugged_in(*there)) {
    MNET_CO_TRY_VOID(co_await clear_away());
    co_return std::optional<cni::NetResult>();
  }
  if (!is_the_same(*there)) {
    co_return model::add_error(model::name_error(model::name_taken(ifname()), delegate_, ifname()),
                               job_.pod, delegate_.cni_name);
  }
  auto result = cni::read_result(*there->result);
  if (!result) co_return failed(std::move(result).error());
  job_.log.verbose(cat("ADD repeated for interface ", ifname(), " of container ",
                       job_.request.container_id, ": answered from the record"));
  co_return std::optional<cni::NetResult>(*std::move(result));
}

bool Dynamic::is_the_same(const model::RecordedAttachment& there) const {
  if (there.source == model::Source::kCluster || there.state != model::AttachmentState::kAttached)
    return false;
  if (!there.result || there.cni_name != delegate_.cni_name) return false;
  if (there.config_hash != delegate_.config_hash && there.config_hash != unfilled_hash_) {
    return false;
  }
  return equal_attributes(there.attributes, delegate_.attributes);
}

aio::Task<void> Dynamic::clear_away() {
  const model::RecordedAttachment there = *attachment_record_.find(ifname());
  const model::AttachmentPtr attachment = attachment_of(job_, attachment_record_, there, false);
  auto deleted = co_await run_del(attachment);
  if (!deleted) {
    co_return failed(std::move(deleted).error().wrap(
        cat("an earlier ADD of interface ", ifname(), " could not be undone")));
  }
  drop();
  auto written = co_await write_attachment_record();
  if (!written) co_return failed(std::move(written).error().wrap("error saving the delegates"));
  co_return Result<void>();
}

// A link that is there is not ours, and stays untouched (02, 5.1 step 7b; 02-F54).
aio::Task<void> Dynamic::expect_free() {
  auto seen = co_await core_.ports.links.look(job_.request.netns, {ifname()});
  if (!seen) co_return model::name_error(std::move(seen).error(), delegate_, ifname());
  if (!seen->taken.empty())
    co_return model::name_error(model::name_taken(ifname()), delegate_, ifname());
  if (attachment_record_.netns_inode == 0) attachment_record_.netns_inode = seen->netns.inode;
  co_return Result<void>();
}

// Recorded before the plugin starts, and with its result before the answer: whatever happens in
// between, the container's DEL knows of it (R2).
aio::Task<cni::NetResult> Dynamic::attach() {
  attachment_record_.attachments.push_back(begin_attachment(*attachment_));
  auto noted = co_await write_attachment_record();
  if (!noted) co_return failed(std::move(noted).error().wrap("error saving the delegates"));

  auto result = co_await run_add();
  if (!result) {
    // The caller may be gone by now; what was built comes down regardless.
    auto undone = co_await aio::shielded(undo());
    if (!undone) job_.log.error("rollback is incomplete", undone.error());
    co_return std::move(result).error();
  }
  announce(*result);
  auto kept = co_await add_status(*result);
  note_status(kept);
  co_return result;
}

aio::Task<cni::NetResult> Dynamic::run_add() {
  chain::Chain chain = chain_of(core_, job_);
  auto result = co_await chain.add(attachment_, Durability::kDurable);
  if (!result) co_return model::add_error(std::move(result).error(), job_.pod, delegate_.cni_name);
  // An answer in a version that nobody can convert is none (02, 5.1).
  auto newest = cni::convert(*result, cni::kCurrentVersion);
  if (!newest) co_return failed(std::move(newest).error());
  log_added(job_, pod_, *attachment_, *result);
  model::RecordedAttachment& one = *attachment_record_.find(ifname());
  one.result = json::Value(cni::to_json(*result));
  one.state = model::AttachmentState::kAttached;
  one.added_at = rfc3339_utc(WallClock::system().now());
  auto noted = co_await write_attachment_record();
  if (!noted) co_return failed(std::move(noted).error().wrap("error saving the results"));
  // Who left while we worked does not get this answer, and does not know of the interface.
  if (job_.request.caller->gone()) co_return failed(aio::cancelled_error());
  co_return result;
}

// This one and no other (05, 3.7). What cannot be undone now stays on record for the container's
// DEL.
aio::Task<void> Dynamic::undo() {
  model::Attachment again = *attachment_;
  again.args = job_.args;  // requested addresses are for ADD only (02, 6.3)
  auto deleted = co_await run_del(std::make_shared<const model::Attachment>(std::move(again)));
  if (deleted) {
    drop();
  } else {
    attachment_record_.find(ifname())->state = model::AttachmentState::kRemoving;
  }
  auto noted = co_await write_attachment_record();
  if (!deleted) co_return deleted;
  co_return noted;
}

void Dynamic::announce(const cni::NetResult& result) {
  if (pod_ == nullptr || !result.has_content()) return;
  auto newest = cni::convert(result, cni::kCurrentVersion);
  if (!newest) return;
  core_.ports.source->send({.pod = pod_,
                            .is_warning = false,
                            .reason = "AddedInterface",
                            .message = added_interface(*newest, ifname(), delegate_.name)});
}

}  // namespace mnet::attach
