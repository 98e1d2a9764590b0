#include "attach/remove.h"

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace mnet::attach {
namespace {

Error removal_error(Error error, const Delegate& delegate) {
  const std::string what =
      delegate.is_list ? cat("error invoking ConflistDel - ", go_quoted(delegate.cni_name))
                       : cat("error invoking DelegateDel - ", go_quoted(delegate.types.front()));
  return std::move(error).wrap(what);
}

}  // namespace

aio::asio::awaitable<Removal> Remover::remove(std::vector<AttachmentPtr> attachments) {
  Removal removal;
  for (std::size_t i = attachments.size(); i-- > 0;) {
    const AttachmentPtr attachment = attachments[i];
    const Delegate& delegate = attachment->delegate;
    job_.log.verbatim(LogLevel::kVerbose, cat("Del: ", job_.log_identity(), ":", delegate.cni_name,
                                              ":", attachment->ifname, " ", delegate.bytes));
    auto deleted = co_await chain_.del(attachment);
    if (deleted) {
      removal.removed.push_back(attachment);
    } else {
      removal.errors.add(removal_error(std::move(deleted).error(), delegate));
    }
  }
  co_return removal;
}

}  // namespace mnet::attach
