#include "hotplug/hotplug.h"

#include <memory>
#include <string>
#include <utility>

#include "aio/task.h"
#include "attach/containers.h"
#include "attach/core.h"
#include "attach/request.h"
#include "base/try.h"
#include "chain/chain.h"
#include "cni/result.h"
#include "hotplug/container.h"
#include "hotplug/job.h"
#include "hotplug/plug_in.h"
#include "hotplug/unplug.h"
#include "model/delegate.h"

namespace mnet::hotplug {

using attach::Verb;

aio::Task<cni::NetResult> Hotplug::add(Request request) {
  MNET_CO_TRY(auto&& job, read_job(std::move(request), Verb::kAdd));
  const std::string container_id = job.base.request.container_id;
  attach::Containers::RunningAdd running(core_->containers, container_id, job.base.request.caller);
  MNET_CO_TRY([[maybe_unused]] const auto& lock, co_await core_->containers.lock(container_id));
  Container container(*core_, std::move(job));
  PlugIn plug_in(container, running);
  co_return co_await plug_in.run();
}

aio::Task<void> Hotplug::del(Request request) {
  MNET_CO_TRY(auto&& job, read_job(std::move(request), Verb::kDel));
  MNET_CO_TRY([[maybe_unused]] const auto& lock,
              co_await core_->containers.lock(job.base.request.container_id));
  Container container(*core_, std::move(job));
  Unplug unplug(container);
  co_return co_await unplug.run();
}

aio::Task<void> Hotplug::check(Request request) {
  MNET_CO_TRY(auto&& job, read_job(std::move(request), Verb::kCheck));
  MNET_CO_TRY([[maybe_unused]] const auto& lock,
              co_await core_->containers.lock(job.base.request.container_id));
  Container container(*core_, std::move(job));
  co_return co_await container.check();
}

aio::Task<void> Hotplug::status(Request request) {
  MNET_CO_TRY(auto&& job, read_job(std::move(request), Verb::kStatus));
  chain::Chain chain = attach::chain_of(*core_, job.base);
  co_return co_await chain.status(std::make_shared<const model::Delegate>(job.delegate));
}

}  // namespace mnet::hotplug
