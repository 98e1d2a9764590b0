#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "aio/task.h"
#include "attach/add.h"
#include "attach/attach.h"
#include "attach/check.h"
#include "attach/containers.h"
#include "attach/core.h"
#include "attach/del.h"
#include "attach/gc.h"
#include "attach/ports.h"
#include "attach/request.h"
#include "attach/resolve.h"
#include "base/error.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/chain.h"
#include "cni/error.h"
#include "cni/result.h"
#include "model/delegate.h"
#include "model/messages.h"

namespace mnet::attach {

Attachments::Attachments(Ports ports, Options options)
    : core_(std::make_unique<Core>(ports, std::move(options))) {}

Attachments::Attachments() = default;
Attachments::~Attachments() = default;

aio::Task<cni::NetResult> Attachments::add(Request request) {
  Job job(std::move(request), Verb::kAdd);
  // Registered before its turn comes, so that a DEL that arrives after it ends it (02, 0.5).
  Containers::RunningAdd running(core_->containers, job.request.container_id, job.request.caller);
  MNET_CO_TRY([[maybe_unused]] const auto& lock,
              co_await core_->containers.lock(job.request.container_id));
  Adding adding(*core_, job, running);
  co_return co_await adding.run();
}

aio::Task<DelOutcome> Attachments::del(Request request) {
  Job job(std::move(request), Verb::kDel);
  if (job.request.rule == nullptr) core_->containers.end_adds(job.request.container_id);
  MNET_CO_TRY([[maybe_unused]] const auto& lock,
              co_await core_->containers.lock(job.request.container_id));
  if (DelRule* rule = job.request.rule) {
    MNET_CO_TRY(const bool is_needed,
                co_await rule->is_needed(job.conf.cni_dir, job.request.container_id));
    if (!is_needed) co_return DelOutcome();
  }
  Deleting deleting(*core_, job);
  co_return co_await deleting.run();
}

aio::Task<std::size_t> Attachments::check(Request request) {
  Job job(std::move(request), Verb::kCheck);
  MNET_CO_TRY([[maybe_unused]] const auto& lock,
              co_await core_->containers.lock(job.request.container_id));
  Checking checking(*core_, job);
  co_return co_await checking.run();
}

// Never waits for anything (02, 7.2).
aio::Task<void> Attachments::status(Request request) {
  Job job(std::move(request), Verb::kStatus);
  if (const std::string& path = job.conf.readiness_indicator_file; !path.empty()) {
    auto exists = co_await core_->ports.readiness.exists(path);
    if (!exists || !*exists) {
      co_return model::core_error(
          cni::coded(cni::Code::kNotAvailable,
                     cat("still waiting for readinessindicatorfile @ ", path)),
          job.pod);
    }
  }
  Resolver resolver(*core_, job);
  auto master = co_await resolver.master();
  if (!master) {
    const Error error =
        model::core_error(std::move(master).error(), job.pod, "failed to get clusterNetwork");
    co_return cni::coded(cni::Code::kNotAvailable, error.text());
  }
  chain::Chain chain = chain_of(*core_, job);
  co_return co_await chain.status(std::make_shared<const model::Delegate>(*std::move(master)));
}

aio::Task<void> Attachments::gc(Request request) {
  Job job(std::move(request), Verb::kGc);
  // Attachments that another process is just making are on no list of ours.
  MNET_CO_TRY([[maybe_unused]] const auto& lock, co_await core_->containers.lock_all());
  Collecting collecting(*core_, job);
  co_return co_await collecting.run();
}

}  // namespace mnet::attach
