#include "attach/gc.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/attach.h"
#include "attach/container_records.h"
#include "attach/core.h"
#include "attach/del.h"
#include "attach/ports.h"
#include "attach/resolve.h"
#include "attach/room.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/reading.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/chain.h"
#include "cni/cache.h"
#include "cni/error.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/messages.h"
#include "model/netconf.h"

namespace mnet::attach {
namespace {

// Without all of the living containers' attachments a plugin would free what they use.
Error not_told(const Error& why) {
  return cni::coded(cni::Code::kTryAgainLater,
                    cat("plugins do not collect garbage, because it is unknown which attachments "
                        "are valid: ",
                        why.text()));
}

// Of what fails: pods choose how many networks a node has, and plugins what they say. Of the rest
// only the number is told.
constexpr std::size_t kMostOfErrors = 64u << 10;

// Every plugin of every network gets all valid attachments, as text, under two keys.
constexpr std::size_t kMostTold = 10'000;

Error too_many() {
  return Error(Errc::kUnavailable, cat("this node has more than ", kMostTold,
                                       " attachments: delete pods that have "
                                       "hundreds of networks"));
}

// What a pod's own request, and its devices, put into the configuration of a network (02, 3.7).
void drop_injected(json::Object& plugin) {
  for (const char* name : {"args", "deviceID", "pciBusID"}) plugin.erase(name);
}

// A name alone does not identify a network: an author of definitions may give one the CNI name of
// another, whose plugins would then never get a GC.
std::string identity_of(const model::Delegate& network) {
  json::Object config = model::decoded_config(network);
  drop_injected(config);
  json::Value* plugins = config.find("plugins");
  if (plugins != nullptr && plugins->as_array() != nullptr) {
    for (json::Value& plugin : *plugins->as_array()) {
      if (plugin.as_object() != nullptr) drop_injected(*plugin.as_object());
    }
  }
  return cat(network.cni_name, " ", model::config_hash(config));
}

}  // namespace

Collecting::Collecting(Core& core, const Job& job)
    : core_(core),
      job_(job),
      witness_(core.containers),
      begun_(rfc3339_utc(WallClock::system().now())) {
  if (!job.conf.valid_attachments) return;
  for (const model::AttachmentId& id : *job.conf.valid_attachments)
    valid_ids_.insert(id.container_id);
}

void Collecting::note(Error error) {
  noted_bytes_ += error.text().size();
  if (!errors_.empty() && noted_bytes_ > kMostOfErrors) {
    ++untold_;
  } else {
    errors_.add(std::move(error));
  }
}

bool Collecting::is_in_use(const std::string& container_id) const {
  if (known_ && !known_->contains(container_id)) return true;
  return witness_.saw(container_id) && !deleted_.contains(container_id);
}

aio::Task<void> Collecting::run() {
  // Without a list of what is valid, nothing is touched.
  if (!job_.conf.valid_attachments) co_return Result<void>();

  auto stale = co_await stale_containers();
  if (!stale) co_return model::core_error(std::move(stale).error(), job_.pod);
  stale_.insert(stale->begin(), stale->end());
  for (const std::string& container_id : *stale) {
    auto deleted = co_await delete_container(container_id);
    if (!deleted) {
      note(std::move(deleted).error().wrap(cat("stale container ", container_id)));
    }
  }
  if (!stale->empty() && core_.options.lock_one) {
    auto alone = core_.options.let_others_in();
    if (!alone) co_return model::core_error(std::move(alone).error(), job_.pod);
  }
  auto swept = co_await sweep();
  if (!swept) note(std::move(swept).error());
  // No container is locked from here on.
  auto containers = co_await core_.ports.records.list(job_.conf.cni_dir);
  if (!containers) co_return model::core_error(not_told(containers.error()), job_.pod);
  auto results = co_await core_.ports.records.list_results(job_.conf.cni_dir);
  if (!results) co_return model::core_error(not_told(results.error()), job_.pod);
  known_.emplace(containers->begin(), containers->end());
  for (const cni::CachedContainer& one : results->containers) known_->insert(one.container_id);
  auto recorded = co_await load_recorded(*std::move(containers));
  if (!recorded) co_return model::core_error(not_told(recorded.error()), job_.pod);
  recorded_ = *std::move(recorded);
  auto networks = co_await configured();
  auto collected = co_await collect(std::move(networks));
  if (collected) collected = co_await collect_attached(std::move(results->containers));
  if (!collected) co_return model::core_error(std::move(collected).error(), job_.pod);
  if (untold_ > 0) errors_.add(Error(Errc::kPlugin, cat(untold_, " more things have failed")));
  auto joined = errors_.join("\n");
  if (!joined) co_return model::core_error(std::move(joined).error(), job_.pod);
  co_return Result<void>();
}

// Containers with files that the runtime does not list. What a request works on is left alone: the
// runtime may have made it after it wrote its list.
aio::Task<std::vector<std::string>> Collecting::stale_containers() {
  MNET_CO_TRY(const auto& containers, co_await core_.ports.records.list(job_.conf.cni_dir));
  MNET_CO_TRY(const auto& results, co_await core_.ports.records.list_results(job_.conf.cni_dir));
  std::set<std::string> known(containers.begin(), containers.end());
  for (const cni::CachedContainer& one : results.containers) known.insert(one.container_id);

  std::vector<std::string> stale;
  for (const std::string& id : known) {
    if (!is_valid(id) && !is_in_use(id)) stale.push_back(id);
  }
  co_return stale;
}

// Damaged entries whose names hold no id of a living container.
aio::Task<void> Collecting::sweep() {
  std::vector<std::string> ids(valid_ids_.begin(), valid_ids_.end());
  for (const model::AttachmentId& planned : core_.containers.planned()) {
    ids.push_back(planned.container_id);
  }
  MNET_CO_TRY(auto&& swept, co_await core_.ports.records.sweep(job_.conf.cni_dir, std::move(ids)));
  for (const std::string& name : swept) {
    job_.log.error(cat("GC removed the damaged result-cache file ", name));
  }
  co_return Result<void>();
}

aio::Task<void> Collecting::delete_container(std::string container_id) {
  if (is_in_use(container_id)) co_return Result<void>();
  std::shared_ptr<void> held;
  if (core_.options.lock_one) {
    MNET_CO_TRY(held, co_await lock_stale(container_id));
    if (held == nullptr) co_return Result<void>();
  }
  deleted_.insert(container_id);
  MNET_CO_TRY([[maybe_unused]] const auto& lock, co_await core_.containers.lock(container_id));
  const Job job = job_of(container_id);
  Deleting deleting(core_, job);
  co_return co_await deleting.run_stale(
      [this](const std::string& id) { return stale_.contains(id) && !is_in_use(id); });
}

// Tenants choose how long the plugins of its DEL take: meanwhile the others run.
aio::Task<std::shared_ptr<void>> Collecting::lock_stale(std::string container_id) {
  auto lock = core_.options.lock_one(container_id);
  if (!lock || *lock == nullptr) co_return lock;
  const Job job = job_of(std::move(container_id));
  RecordAccess access(core_, job);
  MNET_CO_TRY(const auto& stored, co_await access.load_files(RecordParts::kRecord));
  if (!stored.record || !*stored.record) co_return lock;
  const auto record = model::decode_record(**stored.record);
  const bool is_anew = record && std::ranges::any_of(record->attachments, [this](const auto& one) {
                         return one.added_at > begun_;
                       });
  co_return is_anew ? std::shared_ptr<void>() : lock;
}

Job Collecting::job_of(std::string container_id) const {
  Job job = job_;
  job.room = std::make_shared<HeldRoom>();
  job.request.container_id = std::move(container_id);
  job.request.netns.clear();
  job.request.ifname = "eth0";  // where the records do not know better
  return job;
}

// The master, and the networks configured beside it. One that cannot be loaded does not keep the
// others from their GC.
aio::asio::awaitable<std::vector<model::Delegate>> Collecting::configured() {
  std::vector<model::Delegate> networks;
  Resolver resolver(core_, job_);
  auto master = co_await resolver.master();
  if (master) {
    networks.push_back(*std::move(master));
  } else {
    note(std::move(master).error().wrap("failed to get clusterNetwork"));
  }
  networks.insert(networks.end(), job_.conf.delegates.begin(), job_.conf.delegates.end());
  auto defaults = co_await resolver.default_networks();
  if (defaults) {
    std::ranges::move(*defaults, std::back_inserter(networks));
  } else {
    note(std::move(defaults).error());
  }
  co_return networks;
}

aio::Task<void> Collecting::collect(std::vector<model::Delegate> networks) {
  chain::Chain chain = chain_of(core_, job_);
  for (model::Delegate& network : networks) {
    if (!network.list || network.cni_name.empty()) continue;
    const bool is_first = collected_.empty();
    if (!collected_.insert(identity_of(network)).second) continue;
    if (!is_first && core_.options.let_others_in) MNET_CO_TRY_VOID(core_.options.let_others_in());
    // Asked each time: an ADD may have begun since.
    auto valid = co_await attachments();
    if (!valid) co_return not_told(valid.error());
    auto collected = co_await chain.gc(std::make_shared<const model::Delegate>(std::move(network)),
                                       *std::move(valid));
    if (!collected) note(std::move(collected).error());
  }
  co_return Result<void>();
}

// What living containers were attached to, one at a time: tenants chose the configurations.
aio::Task<void> Collecting::collect_attached(std::vector<cni::CachedContainer> containers) {
  for (const cni::CachedContainer& container : containers) {
    if (!is_valid(container.container_id)) continue;
    const Job job = job_of(container.container_id);
    RecordAccess access(core_, job);
    MNET_CO_TRY(const std::size_t weight, co_await access.weigh());
    for (const cni::CachedContainer::Attachment& one : container.attachments) {
      MNET_CO_TRY_VOID(co_await collect_one({one.network, container.container_id, one.ifname},
                                            std::min(weight, kLargestWeight)));
    }
  }
  co_return Result<void>();
}

// `weight`: of all networks of the container.
aio::Task<void> Collecting::collect_one(cni::CacheKey attachment, std::size_t weight) {
  const Job job = job_of(attachment.container_id);
  MNET_CO_TRY_VOID(co_await job.take_room(core_.ports.room, weight));
  auto config = co_await core_.ports.records.find_config(job_.conf.cni_dir, std::move(attachment));
  if (!config && config.error().code() == Errc::kCancelled) co_return config.error();
  if (!config) {
    note(std::move(config).error());
    co_return Result<void>();
  }
  if (!*config) co_return Result<void>();
  auto delegate = model::parse_delegate(**std::move(config));
  if (!delegate || is_of_runtime(*delegate, job_.conf)) co_return Result<void>();
  std::vector<model::Delegate> one;
  one.push_back(*std::move(delegate));
  co_return co_await collect(std::move(one));
}

// A damaged record says nothing; the result cache knows its container, too.
aio::Task<std::set<model::AttachmentId>> Collecting::load_recorded(std::vector<std::string> ids) {
  std::set<model::AttachmentId> all;
  for (const std::string& id : ids) {
    if (!is_valid(id) && !is_in_use(id)) continue;
    const Job job = job_of(id);
    RecordAccess access(core_, job);
    MNET_CO_TRY(const auto& stored, co_await access.load_files(RecordParts::kRecord));
    const auto& found = stored.record;
    if (!found && !is_damage(found.error())) co_return found.error();
    if (!found || !*found) continue;
    auto attachment_record = model::decode_record(**found);
    if (!attachment_record) continue;
    for (const model::RecordedAttachment& one : attachment_record->attachments)
      all.insert({id, one.ifname});
    if (all.size() > kMostTold) co_return too_many();
  }
  co_return all;
}

// All that is valid, of every network: a plugin that keeps its records per type must not lose
// another network's entries (02, 7.3). What an ADD is making now belongs to it, and what GC left
// alone.
aio::Task<std::vector<model::AttachmentId>> Collecting::attachments() {
  std::set<model::AttachmentId> all(job_.conf.valid_attachments->begin(),
                                    job_.conf.valid_attachments->end());
  MNET_CO_TRY_VOID(co_await list_cached());
  all.insert(cached_.begin(), cached_.end());
  all.insert(recorded_.begin(), recorded_.end());
  std::ranges::move(core_.containers.planned(), std::inserter(all, all.end()));
  co_return std::vector<model::AttachmentId>(all.begin(), all.end());
}

// Read once, as long as nothing can have changed: one container may have a thousand files, and each
// of its networks asks.
aio::Task<void> Collecting::list_cached() {
  const auto now = core_.containers.quiet_since();
  if (now && cached_since_ == now && !core_.options.let_others_in) co_return Result<void>();
  MNET_CO_TRY(const auto& results, co_await core_.ports.records.list_results(job_.conf.cni_dir));
  MNET_CO_TRY_VOID(results.unreadable.join(" / "));
  cached_.clear();
  for (const cni::CachedContainer& container : results.containers) {
    const std::string& id = container.container_id;
    if (!is_valid(id) && !is_in_use(id)) continue;
    if (cached_.size() + container.attachments.size() > kMostTold) co_return too_many();
    for (const auto& one : container.attachments) cached_.push_back({id, one.ifname});
  }
  cached_since_ = now;
  co_return Result<void>();
}

}  // namespace mnet::attach
