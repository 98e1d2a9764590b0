#include "attach/core.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/attach.h"
#include "attach/request.h"
#include "attach/room.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "chain/caller.h"
#include "chain/chain.h"
#include "json/secrets.h"
#include "model/delegate.h"
#include "model/netconf.h"
#include "model/objects.h"
#include "model/pod_args.h"

namespace mnet::attach {
namespace {

std::vector<std::string> search_dirs(const Job& job) {
  std::vector<std::string> dirs = {job.conf.bin_dir};
  for (const std::string_view dir : split(job.request.path, ':')) {
    if (!dir.empty()) dirs.emplace_back(dir);
  }
  return dirs;
}

}  // namespace

std::string Job::log_identity() const {
  // The UID is the pod object's, which is not looked up to take networks down.
  return cat(model::shown_name(pod.ns), ":", model::shown_name(pod.name), ":unknownUID");
}

std::string Job::logged_config(const model::Delegate& delegate) const {
  if (!log.writes(LogLevel::kDebug)) return {};
  return cat(" ", json::without_secrets(delegate.bytes));
}

model::PodObjectPtr Job::pod_as_named() const {
  auto named = std::make_shared<model::PodObject>();
  named->ns = pod.ns;
  named->name = pod.name;
  named->uid = pod.uid;
  return named;
}

RoomRequest Job::room_request(std::size_t weight) const {
  RoomRequest wanted;
  wanted.weight = weight;
  wanted.ticket = request.ticket;
  // For hot-plug, which works for a pod: else the pod's author would have the share of upkeep as
  // well as its own.
  wanted.ns = request.rule == nullptr ? request.pod.ns : std::string(kBackground);
  wanted.container_id = request.container_id;
  const bool is_del = verb == Verb::kDel || verb == Verb::kGc;
  wanted.purpose = is_del ? RoomFor::kDel : RoomFor::kRequest;
  if (!is_del) wanted.caller = request.caller;  // a DEL runs to its end without its client
  return wanted;
}

// Not a coroutine: the arguments are not kept while the request waits.
aio::Task<void> Job::take_room(Room* from, std::size_t weight) const {
  return room->take(from, room_request(weight));
}

Result<void> complete(const Result<DelOutcome>& outcome) {
  if (!outcome) return outcome.error();
  if (outcome->failed) return *outcome->failed;
  if (outcome->unreadable) return *outcome->unreadable;
  return {};
}

chain::Chain chain_of(const Core& core, const Job& job,
                      const std::shared_ptr<chain::Caller>& caller) {
  chain::Chain::Setting setting;
  setting.dirs = search_dirs(job);
  setting.cni_dir = job.conf.cni_dir;
  setting.request_id = job.request.id;
  setting.ticket = job.request.ticket;
  setting.pod_namespace = job.request.share();
  setting.caller = caller == nullptr ? job.request.caller : caller;
  setting.starts_early = job.conf.parallel_attach != model::ParallelAttach::kOff;
  setting.own_type = job.conf.type;
  setting.goes_on = job.request.is_last;
  return chain::Chain(core.ports.plugins, core.ports.results, std::move(setting), job.log);
}

}  // namespace mnet::attach
