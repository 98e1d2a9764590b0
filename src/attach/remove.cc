#include "attach/remove.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/plan.h"
#include "attach/ports.h"
#include "base/error.h"
#include "base/error_list.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/chain.h"
#include "model/attachment.h"
#include "model/delegate.h"
#include "model/runtime_config.h"

namespace mnet::attach {
namespace {

Error removal_error(Error error, const model::Delegate& delegate) {
  const std::string what =
      delegate.is_list ? cat("error invoking ConflistDel - ", go_quoted(delegate.cni_name))
                       : cat("error invoking DelegateDel - ", go_quoted(delegate.types.front()));
  return std::move(error).wrap(what);
}

}  // namespace

Result<void> Removal::complete() const {
  ErrorList all = errors;
  for (const Error& error : unread.errors()) all.add(error.wrap("deleted without its result"));
  return all.join(" / ");
}

// Networks that must stay are among the errors.
aio::asio::awaitable<std::vector<model::AttachmentPtr>> Remover::judged(
    std::vector<model::AttachmentPtr> attachments, Removal* removal) {
  if (rule_ == nullptr || attachments.empty()) co_return attachments;
  std::vector<model::AttachmentPtr> allowed;
  auto verdicts = co_await rule_->judge(job_.conf.cni_dir, attachments, is_gone_);
  if (!verdicts) {
    removal->errors.add(std::move(verdicts).error());
    co_return allowed;
  }
  for (Result<model::AttachmentPtr>& verdict : *verdicts) {
    if (verdict) {
      allowed.push_back(*std::move(verdict));
    } else {
      removal->errors.add(std::move(verdict).error());
    }
  }
  co_return allowed;
}

// The runtime has just said that the namespace of the request is the container's.
aio::Task<std::vector<model::AttachmentPtr>> Remover::still_own(
    std::vector<model::AttachmentPtr> planned) {
  DelRule* rule = core_.ports.rule;
  if (rule == nullptr || planned.empty()) co_return planned;
  MNET_CO_TRY(const auto& verdicts, co_await rule->judge(job_.conf.cni_dir, planned, {}));
  std::vector<model::AttachmentPtr> own;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    const auto& verdict = verdicts[i];
    if (verdict) {
      own.push_back(planned[i]->netns == job_.request.netns ? planned[i] : *verdict);
      continue;
    }
    job_.log.warning(verdict.error().text());
    auto removed = co_await core_.ports.results.remove_result(job_.conf.cni_dir, planned[i]->key());
    if (!removed) job_.log.error("cannot remove a result-cache entry", removed.error());
  }
  co_return own;
}

aio::asio::awaitable<Removal> Remover::remove(std::vector<model::AttachmentPtr> planned) {
  Removal removal;
  const std::vector<model::AttachmentPtr> attachments =
      co_await judged(std::move(planned), &removal);
  for (std::size_t i = attachments.size(); i-- > 0;) {
    const model::AttachmentPtr& attachment = attachments[i];
    const model::Delegate& delegate = attachment->delegate;
    if (job_.log.writes(LogLevel::kVerbose)) {
      job_.log.verbatim(LogLevel::kVerbose,
                        cat("Del: ", job_.log_identity(), ":", excerpt(delegate.cni_name), ":",
                            excerpt(attachment->ifname), job_.logged_config(delegate)));
    }
    auto deleted = co_await chain_.del(attachment);
    if (!deleted) {
      removal.errors.add(removal_error(std::move(deleted).error(), delegate));
    } else if (deleted->unread) {
      removal.unread.add(*std::move(deleted->unread));
    } else {
      removal.removed.push_back(attachment);
    }
    co_await remove_device_info(attachment);
  }
  co_return removal;
}

// A file that the runtime named and that lies elsewhere is not ours to remove.
aio::asio::awaitable<void> Remover::remove_device_info(model::AttachmentPtr attachment) {
  const std::string path = device_info_file(attachment->capability_args);
  if (!path.starts_with(model::kDeviceInfoDirectory) || path.contains("/../")) co_return;
  auto removed = co_await core_.ports.device_infos.remove(path);
  if (!removed) job_.log.error("cannot remove device information", removed.error());
}

}  // namespace mnet::attach
