#include "attach/status.h"

#include <memory>
#include <string>
#include <utility>

#include "aio/task.h"
#include "attach/core.h"
#include "attach/resolve.h"
#include "base/error.h"
#include "base/text.h"
#include "chain/chain.h"
#include "cni/error.h"
#include "model/delegate.h"
#include "model/messages.h"

namespace mnet::attach {

aio::Task<void> AskingStatus::run() {
  if (const std::string& path = job_.conf.readiness_indicator_file; !path.empty()) {
    auto exists = co_await core_.ports.readiness.exists(path);
    if (!exists || !*exists) {
      co_return model::core_error(
          cni::coded(cni::Code::kNotAvailable,
                     cat("still waiting for readinessindicatorfile @ ", path)),
          job_.pod);
    }
  }
  Resolver resolver(core_, job_);
  auto master = co_await resolver.master();
  if (!master) {
    const Error error =
        model::core_error(std::move(master).error(), job_.pod, "failed to get clusterNetwork");
    co_return cni::coded(cni::Code::kNotAvailable, error.text());
  }
  chain::Chain chain = chain_of(core_, job_);
  co_return co_await chain.status(std::make_shared<const model::Delegate>(*std::move(master)));
}

}  // namespace mnet::attach
