#include "attach/check.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aio/cancel.h"
#include "attach/messages.h"
#include "attach/plan.h"
#include "attach/resolve.h"
#include "base/text.h"
#include "cni/version.h"

namespace mnet::attach {
namespace {

// Plugins of older versions know no CHECK; that is no fault of the container (02-F45).
bool can_be_checked(const Delegate& delegate) {
  if (delegate.removed || !delegate.list) return !delegate.removed;
  return cni::at_least(delegate.list->version, cni::kCheckSince) && !delegate.list->disable_check;
}

}  // namespace

aio::Task<std::vector<Delegate>> Checking::configured() {
  if (!job_.conf.delegates.empty()) co_return job_.conf.delegates;
  Resolver resolver(core_, job_);
  auto master = co_await resolver.master();
  if (!master) {
    co_return core_error(std::move(master).error(), job_.pod, "failed to get clusterNetwork");
  }
  std::vector<Delegate> delegates;
  delegates.push_back(*std::move(master));
  co_return delegates;
}

aio::Task<void> Checking::run() {
  Record record = co_await book_.load();
  if (!record.delegates) {
    auto delegates = co_await configured();
    if (!delegates) co_return std::move(delegates).error();
    record.delegates = *std::move(delegates);
  }
  Chain chain = chain_of(core_, job_);
  const std::string master = record.master_ifname(job_.request.ifname);
  for (std::size_t i = 0; i < record.delegates->size(); ++i) {
    const Delegate& delegate = (*record.delegates)[i];
    if (!can_be_checked(delegate)) continue;
    if (job_.request.caller->gone()) co_return core_error(aio::cancelled_error(), job_.pod);
    const std::string ifname = interface_name(delegate, i, master);
    job_.log.verbatim(LogLevel::kVerbose,
                      cat("Check: ", job_.pod.ns, ":", job_.pod.name, ":", delegate.name, "(",
                          delegate.cni_name, "):", ifname, " ", delegate.bytes));
    auto attachment = std::make_shared<const Attachment>(plan_again(job_, delegate, ifname, true));
    auto checked = co_await chain.check(std::move(attachment));
    if (!checked) {
      co_return core_error(std::move(checked).error(), job_.pod,
                           cat("error checking network ", go_quoted(delegate.cni_name)));
    }
  }
  co_return Result<void>();
}

}  // namespace mnet::attach
