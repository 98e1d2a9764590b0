// DEL and CHECK of one network of a container that runs.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/core.h"
#include "attach/dynamic.h"
#include "attach/plan.h"
#include "attach/recorded_attachments.h"
#include "attach/remove.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/chain.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/messages.h"
#include "model/scratch.h"

namespace mnet::attach {

aio::Task<void> Dynamic::del() {
  MNET_CO_TRY_VOID(co_await find_pod());
  MNET_CO_TRY_VOID(co_await load());
  const model::RecordedAttachment* there = attachment_record_.find(ifname());
  if (there != nullptr && there->source == model::Source::kCluster) {
    co_return failed(Error(Errc::kDenied, cat("interface ", ifname(),
                                              " is the cluster network's and cannot be removed")));
  }
  // Somebody else's: a client takes back an ADD that was refused (R4).
  const bool is_foreign =
      there == nullptr ? is_part_of_another() : there->cni_name != delegate_.cni_name;
  if (is_foreign) {
    job_.log.verbose(cat("DEL of network ", go_quoted(delegate_.cni_name), " leaves interface ",
                         ifname(), " alone: it is another network's"));
    co_return Result<void>();
  }
  if (there != nullptr) {
    co_return co_await remove_recorded();
  }
  // Nobody knows of it; CNI's DEL does no harm to what is not there (R5).
  auto deleted = co_await run_del(
      std::make_shared<const model::Attachment>(plan_again(job_, delegate_, ifname(), false)));
  if (!deleted) co_return failed(std::move(deleted).error());
  co_return Result<void>();
}

// An interface that came with another attachment and goes with it.
bool Dynamic::is_part_of_another() const {
  return std::ranges::any_of(attachment_record_.attachments,
                             [&](const model::RecordedAttachment& one) {
                               const std::vector<std::string> names = interfaces_of(one);
                               return std::ranges::find(names, ifname()) != names.end();
                             });
}

aio::Task<void> Dynamic::run_del(model::AttachmentPtr attachment) {
  Remover remover(core_, job_);
  Removal removal = co_await remover.remove({std::move(attachment)});
  co_return removal.complete();
}

// With what was recorded, whatever the request says (R6).
aio::Task<void> Dynamic::remove_recorded() {
  model::RecordedAttachment& there = *attachment_record_.find(ifname());
  const model::AttachmentPtr attachment = attachment_of(job_, attachment_record_, there, false);
  there.state = model::AttachmentState::kRemoving;
  const model::RecordedAttachment removed = there;
  auto noted = co_await write_attachment_record();
  if (!noted) co_return failed(std::move(noted).error().wrap("error saving the delegates"));
  if (removed.result) co_await access_.restore_result(attachment, *removed.result);

  auto deleted = co_await run_del(attachment);
  if (!deleted) co_return failed(std::move(deleted).error());
  auto unlisted = co_await unlist();
  if (!unlisted) co_return failed(std::move(unlisted).error().wrap("error saving the delegates"));
  drop();
  auto written = co_await write_attachment_record();
  if (!written) co_return failed(std::move(written).error().wrap("error saving the delegates"));
  auto kept = co_await drop_status(removed);
  note_status(kept);
  co_return Result<void>();
}

// Out of the scratch file, which the container's DEL and CHECK work from. Names of the others
// derive from their places, which shift now: each gets its own in words first (R2).
aio::Task<void> Dynamic::unlist() {
  if (!record_.delegates) co_return Result<void>();
  std::vector<model::Delegate> rest;
  for (std::size_t i = 0; i < record_.delegates->size(); ++i) {
    model::Delegate delegate = (*record_.delegates)[i];
    if (i > 0) {
      std::string name = model::interface_name(delegate, i, {});
      if (name == ifname()) continue;
      delegate.selection.ifname = std::move(name);
    }
    rest.push_back(std::move(delegate));
  }
  if (rest.size() == record_.delegates->size()) co_return Result<void>();
  MNET_CO_TRY_VOID(co_await access_.write(model::encode_scratch(rest)));
  co_return co_await access_.sync();
}

// One that is recorded with what it was made with; it answers for itself alone.
aio::Task<void> Dynamic::check() {
  MNET_CO_TRY_VOID(co_await load());
  const model::RecordedAttachment* there = attachment_record_.find(ifname());
  const bool is_recorded = there != nullptr && there->cni_name == delegate_.cni_name;
  const model::AttachmentPtr attachment =
      is_recorded
          ? attachment_of(job_, attachment_record_, *there, true)
          : std::make_shared<const model::Attachment>(plan_again(job_, delegate_, ifname(), true));
  if (is_recorded && there->result) co_await access_.restore_result(attachment, *there->result);
  chain::Chain chain = chain_of(core_, job_);
  auto checked = co_await chain.check(attachment);
  if (!checked) {
    co_return model::core_error(std::move(checked).error(), job_.pod,
                                cat("error checking network ", go_quoted(delegate_.cni_name)));
  }
  co_return Result<void>();
}

}  // namespace mnet::attach
