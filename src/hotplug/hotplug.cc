#include "hotplug/hotplug.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "aio/task.h"
#include "attach/containers.h"
#include "attach/core.h"
#include "attach/ports.h"
#include "attach/request.h"
#include "attach/room.h"
#include "base/try.h"
#include "chain/chain.h"
#include "cni/result.h"
#include "hotplug/container.h"
#include "hotplug/job.h"
#include "hotplug/plug_in.h"
#include "hotplug/unplug.h"
#include "json/count.h"
#include "model/delegate.h"
#include "model/inject.h"

namespace mnet::hotplug {

using attach::Verb;

namespace {

std::size_t weight_of(const Request& request) {
  const json::Count count = json::count(request.config);
  model::Weight weight{.bytes = count.bytes, .values = count.values};
  if (request.cni_args) {
    weight += model::weight_of(*request.cni_args, std::max<std::size_t>(1, count.listed));
  }
  return weight.total();
}

// The weight of its records is part of it: a request that holds room never waits for more.
aio::Task<std::shared_ptr<attach::HeldRoom>> take(const attach::Core* core,
                                                  attach::RoomRequest wanted, std::string cni_dir) {
  auto held = std::make_shared<attach::HeldRoom>();
  attach::Room* room = core->ports.room;
  if (room == nullptr || wanted.weight <= room->free()) co_return held;
  MNET_CO_TRY(const auto& records,
              co_await core->ports.records.load(std::move(cni_dir), wanted.container_id,
                                                attach::RecordParts::kAll, 0));
  wanted.weight = std::min(wanted.weight + records.too_heavy.value_or(0), attach::kLargestWeight);
  MNET_CO_TRY_VOID(co_await held->take(room, std::move(wanted)));
  co_return held;
}

}  // namespace

aio::Task<std::shared_ptr<attach::HeldRoom>> Hotplug::take_room(const Request& request, Verb verb) {
  attach::RoomRequest wanted;
  wanted.weight = weight_of(request);
  wanted.ticket = request.request.ticket;
  wanted.ns = request.request.pod.ns;
  wanted.container_id = request.request.container_id;
  const bool is_del = verb == Verb::kDel;
  wanted.purpose = is_del ? attach::RoomFor::kDel : attach::RoomFor::kRequest;
  if (!is_del) wanted.caller = request.request.caller;
  return take(core_, std::move(wanted), request.request.conf->cni_dir);
}

struct Hotplug::Locked {
  attach::Containers::Guard guard;
  Job job;
};

aio::Task<Hotplug::Locked> Hotplug::lock(Request request, Verb verb) {
  MNET_CO_TRY(auto&& guard, co_await core_->containers.lock(request.request.container_id));
  MNET_CO_TRY(auto&& room, co_await take_room(request, verb));
  MNET_CO_TRY(auto&& job, read_job(std::move(request), verb, std::move(room)));
  co_return Locked{.guard = std::move(guard), .job = std::move(job)};
}

aio::Task<cni::NetResult> Hotplug::add(Request request) {
  attach::Containers::RunningAdd running(core_->containers, request.request.container_id,
                                         request.request.caller);
  MNET_CO_TRY(auto&& locked, co_await lock(std::move(request), Verb::kAdd));
  Container container(*core_, std::move(locked.job));
  PlugIn plug_in(container, running);
  co_return co_await plug_in.run();
}

aio::Task<void> Hotplug::del(Request request) {
  MNET_CO_TRY(auto&& locked, co_await lock(std::move(request), Verb::kDel));
  Container container(*core_, std::move(locked.job));
  Unplug unplug(container);
  co_return co_await unplug.run();
}

aio::Task<void> Hotplug::check(Request request) {
  MNET_CO_TRY(auto&& locked, co_await lock(std::move(request), Verb::kCheck));
  Container container(*core_, std::move(locked.job));
  co_return co_await container.check();
}

aio::Task<void> Hotplug::status(Request request) {
  MNET_CO_TRY(auto&& room, co_await take_room(request, Verb::kStatus));
  MNET_CO_TRY(auto&& job, read_job(std::move(request), Verb::kStatus, std::move(room)));
  chain::Chain chain = attach::chain_of(*core_, job.base);
  co_return co_await chain.status(std::make_shared<const model::Delegate>(job.delegate));
}

}  // namespace mnet::hotplug
