#include "upkeep/upkeep.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/cancel.h"
#include "aio/group.h"
#include "aio/task.h"
#include "attach/attach.h"
#include "attach/container_records.h"
#include "attach/core.h"
#include "attach/ports.h"
#include "attach/recorded_attachments.h"
#include "attach/remove.h"
#include "attach/request.h"
#include "attach/source.h"
#include "base/backoff.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/cache.h"
#include "model/attachment.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/event_reasons.h"
#include "model/netconf.h"
#include "model/objects.h"
#include "upkeep/decision.h"
#include "upkeep/rule.h"

namespace mnet::upkeep {
namespace {

constexpr std::size_t kSideBySide = 4;  // namespaces

bool is_half_done(const model::RecordedAttachment& attachment) {
  return attachment.state != model::AttachmentState::kAttached;
}

bool seems_gone(const Decision& decision) {
  return decision.action == Action::kWatch || decision.action == Action::kReport ||
         decision.action == Action::kDelete;
}

// Whether every attachment on record has a cached result. A file that cannot be read may be the one
// that seems to be missing.
bool may_be_complete(const model::AttachmentRecord& record, const attach::CacheOverview& results) {
  if (!results.unreadable.empty()) return true;
  const cni::CachedContainer* cached = results.find(record.container_id);
  return std::ranges::all_of(record.attachments, [&](const model::RecordedAttachment& one) {
    return cached != nullptr &&
           std::ranges::find(cached->attachments,
                             cni::CachedContainer::Attachment{one.cni_name, one.ifname}) !=
               cached->attachments.end();
  });
}

bool has_pending_del(const std::vector<std::string>& files, const std::string& container_id) {
  return std::ranges::any_of(files, [start = cat(container_id, "-")](const std::string& file) {
    return file.starts_with(start);
  });
}

bool lives(const Facts& facts) {
  return facts.is_of_this_boot && facts.netns == Namespace::kSame && !facts.is_empty;
}

}  // namespace

// Asks again once it has the container's turn; then applies the rule of all such DELs.
class Upkeep::StillNeeded : public attach::DelRule {
 public:
  StillNeeded(Upkeep& owner, const Item* item, Action action)
      : owner_(owner), item_(item), action_(action) {}

  aio::Task<bool> is_needed(std::string, std::string) override {
    MNET_CO_TRY(const bool is_still, co_await owner_.is_still(item_, action_));
    was_needed = is_still;
    co_return is_still;
  }
  aio::Task<Verdicts> judge(std::string cni_dir, std::vector<model::AttachmentPtr> networks,
                            IsGone is_gone) override {
    return owner_.rule_.judge(std::move(cni_dir), std::move(networks), std::move(is_gone));
  }

  bool was_needed = false;

 private:
  Upkeep& owner_;
  const Item* item_;
  const Action action_;
};

void Upkeep::stop() {
  stop_.set();
  finished_.notify_all();
}

aio::Task<void> Upkeep::run() {
  aio::Group work(co_await aio::asio::this_coro::executor, log_);
  Result<void> ended;
  while (ended && !stop_.is_set()) {
    auto begun = co_await begin_round(&work);
    if (!begun && begun.error().code() != Errc::kCancelled) {
      log_.error("cannot look for unfinished records", begun.error());
    }
    const bool is_cancelled = co_await aio::cancelled();
    if (is_cancelled) {
      ended = aio::cancelled_error();
      break;
    }
    auto stopped = co_await stop_.wait(std::chrono::steady_clock::now() + pause());
    if (!stopped && stopped.error().code() != Errc::kTimeout) ended = std::move(stopped);
  }
  if (ended) ended = co_await work.join();
  if (!ended) work.cancel();
  (void)co_await aio::shielded(work.join());
  co_return ended;
}

// Spread out, so that the nodes of a cluster do not all begin at once. Earlier where a container's
// grace ends.
std::chrono::milliseconds Upkeep::pause() {
  auto pause = Backoff(settings_.period, 2 * settings_.period, random_, kFifth).next();
  const auto now = clock_();
  for (const auto& [place, first] : first_seen_gone_) {
    const auto left = std::chrono::ceil<std::chrono::seconds>(first + settings_.grace - now);
    if (left.count() > 0) pause = std::min<std::chrono::milliseconds>(pause, left);
  }
  return pause;
}

aio::Task<Upkeep::Items> Upkeep::look_everywhere() {
  Items items;
  const std::set<std::string> directories = node_.directories();
  for (const std::string& directory : directories) {
    MNET_CO_TRY_VOID(co_await look(directory, &items));
  }
  MNET_CO_TRY_VOID(co_await find_processes(&items));
  for (const auto& item : items) note_gone(item.get());
  compare(items);
  gone_ = static_cast<std::size_t>(std::ranges::count_if(
      items, [this](const auto& item) { return seems_gone(decide(item->facts, settings_.mode)); }));
  co_return items;
}

aio::Task<void> Upkeep::round() {
  aio::Group work(co_await aio::asio::this_coro::executor, log_);
  auto ended = co_await begin_round(&work);
  if (ended) ended = co_await work.join();
  if (!ended) work.cancel();
  (void)co_await aio::shielded(work.join());
  co_return ended;
}

aio::Task<void> Upkeep::begin_round(aio::Group* work) {
  MNET_CO_TRY(auto&& items, co_await look_everywhere());
  std::map<std::string, Items> of_namespaces;
  std::vector<std::string> order;  // that of the oldest of each
  for (auto& item : items) {
    const std::string& ns = item->record.pod_ns;
    Items& of_namespace = of_namespaces[ns];
    if (of_namespace.empty()) order.push_back(ns);
    of_namespace.push_back(std::move(item));
  }
  for (const std::string& ns : order) {
    if (busy_.contains(ns)) continue;
    while (busy_.size() >= kSideBySide && !stop_.is_set()) {
      MNET_CO_TRY_VOID(co_await finished_.wait());
    }
    if (stop_.is_set()) break;
    busy_.insert(ns);
    if (!work->spawn("upkeep", finish(ns, std::move(of_namespaces[ns])))) busy_.erase(ns);
  }
  co_return Result<void>();
}

aio::Task<void> Upkeep::finish(std::string ns, Items items) {
  for (const auto& item : items) {
    if (stop_.is_set()) break;
    const auto done = co_await act(item.get(), decide(item->facts, settings_.mode));
    if (!done && done.error().code() == Errc::kCancelled) break;
    if (done) continue;
    log_.with_request(item->request_id)
        .error(cat("cannot finish ", described(item->record)), done.error());
  }
  busy_.erase(ns);
  finished_.notify_all();
  co_return Result<void>();
}

aio::Task<std::vector<Upkeep::Found>> Upkeep::round_by_hand(Extent extent) {
  MNET_CO_TRY(const auto& items, co_await look_everywhere());
  std::vector<Found> found;
  for (const auto& item : items) {
    if (stop_.is_set()) break;
    const Decision decision = decide(item->facts, settings_.mode);
    Result<void> done;
    if (extent == Extent::kAll) done = co_await act(item.get(), decision);
    if (!done && done.error().code() == Errc::kCancelled) co_return done.error();
    if (done && decision.action == Action::kKeep) continue;
    found.push_back({.container_id = item->record.container_id,
                     .pod_ns = item->record.pod_ns,
                     .pod_name = item->record.pod_name,
                     .action = decision.action,
                     .reason = decision.reason});
    if (!done) found.back().failure = std::move(done).error();
  }
  co_return found;
}

// The oldest first.
aio::Task<void> Upkeep::look(std::string cni_dir, Items* items) {
  MNET_CO_TRY(const auto& containers, co_await node_.list_records(cni_dir));
  MNET_CO_TRY(auto&& results, co_await core_.core().ports.records.list_results(cni_dir));
  const auto begin = items->size();
  std::set<std::string> recorded;  // or unknown, so the result cache must not judge either
  for (const std::string& id : containers) {
    auto item = co_await read(cni_dir, id);
    if (item && *item == nullptr) continue;
    recorded.insert(id);
    if (!item) {
      if (item.error().code() == Errc::kCancelled) co_return item.error();
      log_.error(cat("cannot read the attachment record of container ", id), item.error());
      continue;
    }
    (*item)->facts.is_complete = may_be_complete((*item)->record, results);
    (*item)->record.attachments.clear();
    items->push_back(*std::move(item));
  }
  std::erase_if(results.containers, [&](const cni::CachedContainer& cached) {
    return recorded.contains(cached.container_id);
  });
  MNET_CO_TRY_VOID(co_await find_cached(cni_dir, std::move(results.containers), items));
  // Read after the records: a DEL that fails writes its pending DEL first.
  MNET_CO_TRY(const auto& pending, co_await node_.list_pending(cni_dir));
  MNET_CO_TRY(const auto& set_aside, co_await node_.list_set_aside(cni_dir));
  for (auto i = begin; i < items->size(); ++i) {
    Item& item = *(*items)[i];
    item.facts.has_pending = has_pending_del(pending, item.record.container_id);
    item.facts.had_damaged_pending = has_pending_del(set_aside, item.record.container_id);
    MNET_CO_TRY_VOID(co_await find_facts(&item));
  }
  co_return Result<void>();
}

// None if it is gone by now, or damaged.
aio::Task<std::unique_ptr<Upkeep::Item>> Upkeep::read(std::string cni_dir,
                                                      std::string container_id) {
  MNET_CO_TRY(auto&& record, co_await rule_.find_record(cni_dir, container_id));
  if (!record) co_return nullptr;
  auto item = std::make_unique<Item>();
  item->cni_dir = std::move(cni_dir);
  item->record = *std::move(record);
  item->facts.state = item->record.state;
  item->facts.awaits_pending = item->record.is_pending;
  // With hot-plug on, hot-plug finishes what an edit of the annotation began, its network status
  // included.
  const attach::Options& options = core_.core().options;
  const bool has_hotplug =
      options.has_hotplug && (!options.hotplugs_in || options.hotplugs_in(item->record.pod_ns));
  for (const model::RecordedAttachment& one : item->record.attachments) {
    if (one.source == model::Source::kCluster) item->ifname = one.ifname;
    const bool is_hotplugs = has_hotplug && (one.source == model::Source::kAnnotation ||
                                             one.source == model::Source::kHotplug);
    if (is_half_done(one) && !is_hotplugs) item->half_done.push_back(one.ifname);
  }
  co_return std::move(item);
}

// Containers that the original, or an earlier version, left behind. Entries that a runtime wrote
// for Multus itself are not ours.
aio::Task<void> Upkeep::find_cached(std::string cni_dir,
                                    std::vector<cni::CachedContainer> containers, Items* items) {
  for (const cni::CachedContainer& container : containers) {
    const cni::CachedContainer::Attachment& first = container.attachments.front();
    auto config = co_await core_.core().ports.records.find_config(
        cni_dir, {first.network, container.container_id, first.ifname});
    if (!config && config.error().code() == Errc::kCancelled) co_return config.error();
    if (!config || !*config) continue;
    const auto delegate = model::parse_delegate(**config);
    if (!delegate || attach::is_of_runtime(*delegate, model::NetConf())) continue;
    auto item = std::make_unique<Item>();
    item->cni_dir = cni_dir;
    item->record = attach::header_of(container);
    item->has_record = false;
    items->push_back(std::move(item));
  }
  co_return Result<void>();
}

aio::Task<void> Upkeep::find_facts(Item* item) {
  const model::AttachmentRecord& record = item->record;
  Facts& facts = item->facts;
  const std::string& this_boot = core_.core().options.boot_id;
  facts.is_of_this_boot =
      record.boot_id.empty() || this_boot.empty() || record.boot_id == this_boot;
  const auto where =
      co_await rule_.find_namespace(record.netns, record.boot_id, record.netns_inode);
  if (!where && where.error().code() == Errc::kCancelled) co_return where.error();
  facts.netns = where ? *where : Namespace::kUnknown;
  if (record.netns.empty()) facts.netns = Namespace::kUnknown;
  // The record does not say which namespace is the container's: the one at the path may be.
  if (record.netns_inode == 0 && facts.netns == Namespace::kOther) facts.netns = Namespace::kSame;
  facts.has_pod = !record.pod_uid.empty() && node_.knows_pods();
  facts.pod = node_.find_pod(record);
  facts.sees_host = node_.sees_host();
  co_return Result<void>();
}

// Looks at processes only where that matters: a namespace is not seen, or the pod is gone or has
// another container.
aio::Task<void> Upkeep::find_processes(const Items* items) {
  ByPod living;
  std::vector<Item*> unseen;
  bool is_asked = false;
  for (const auto& item : *items) {
    const Facts& facts = item->facts;
    if (!facts.is_of_this_boot || !facts.has_pod || item->record.netns_inode == 0) continue;
    if (is_gone(facts)) unseen.push_back(item.get());
    if (!lives(facts)) continue;
    auto& of_pod = living[item->record.pod_uid];
    of_pod.push_back(item.get());
    is_asked = is_asked || of_pod.size() > 1 || facts.pod == PodState::kAbsent;
  }
  if (!is_asked && unseen.empty()) co_return Result<void>();
  const auto used = co_await node_.list_used_namespaces();
  if (!used && used.error().code() == Errc::kCancelled) co_return used.error();
  if (!used) {
    log_.error("cannot tell which namespaces have processes", used.error());
    co_return Result<void>();
  }
  keep_used(living, unseen, *used);
  find_empty(living, *used);
  co_return Result<void>();
}

// A namespace with processes exists, although its path leads nowhere for us. The kernel reuses the
// number of a namespace that is gone, so processes of another container say nothing about this one.
void Upkeep::keep_used(const ByPod& living, const std::vector<Item*>& unseen,
                       std::set<std::uint64_t> used) {
  for (const auto& [uid, of_pod] : living) {
    for (const Item* item : of_pod) used.erase(item->record.netns_inode);
  }
  for (Item* item : unseen) {
    if (used.contains(item->record.netns_inode)) item->facts.netns = Namespace::kUnknown;
  }
}

// Seeing processes of other containers proves that processes can be seen at all; a runtime may also
// keep its processes elsewhere.
void Upkeep::find_empty(const ByPod& living, const std::set<std::uint64_t>& used) {
  const auto is_used = [&used](const Item* item) {
    return used.contains(item->record.netns_inode);
  };
  const bool sees_processes = std::ranges::any_of(
      living, [&](const auto& of_pod) { return std::ranges::any_of(of_pod.second, is_used); });
  for (const auto& [uid, of_pod] : living) {
    const bool has_used = std::ranges::any_of(of_pod, is_used);
    for (Item* item : of_pod) {
      const bool is_absent = item->facts.pod == PodState::kAbsent;
      item->facts.is_empty = !is_used(item) && (has_used || (is_absent && sees_processes));
    }
  }
}

void Upkeep::note_gone(Item* item) {
  const Place place{item->cni_dir, item->record.container_id};
  if (!is_gone(item->facts)) {
    first_seen_gone_.erase(place);
    reported_.erase(place);
    return;
  }
  const auto now = clock_();
  const auto first = first_seen_gone_.try_emplace(place, now).first->second;
  item->facts.is_past_grace = now - first >= settings_.grace;
}

// If a running pod's namespace is not there, we do not see namespaces as they are.
void Upkeep::compare(const Items& items) {
  std::set<std::string> living;  // UIDs of pods with a living container
  std::set<Place> places;
  for (const auto& item : items) {
    places.insert({item->cni_dir, item->record.container_id});
    if (lives(item->facts)) living.insert(item->record.pod_uid);
  }
  std::erase_if(first_seen_gone_, [&](const auto& one) { return !places.contains(one.first); });
  std::erase_if(reported_, [&](const Place& one) { return !places.contains(one); });

  bool sees_all = true;
  for (const auto& item : items) {
    Facts& facts = item->facts;
    facts.has_living_sibling =
        !item->record.pod_uid.empty() && !lives(facts) && living.contains(item->record.pod_uid);
    const bool is_missing = facts.pod == PodState::kRunning && facts.is_of_this_boot &&
                            facts.state == model::RecordState::kReady && !lives(facts) &&
                            !facts.has_living_sibling;
    if (is_missing) sees_all = false;
    if (is_missing && sees_running_pods_) {
      log_.error(cat("the namespace ", excerpt(item->record.netns), " of ", described(item->record),
                     ", which runs, cannot be seen; no container is taken for gone; check that the "
                     "daemon's mounts of /run/netns and of the host's root have mountPropagation "
                     "HostToContainer"));
    }
  }
  sees_running_pods_ = sees_all;
  for (const auto& item : items) item->facts.sees_running_pods = sees_all;
}

aio::Task<void> Upkeep::act(Item* item, Decision decision) {
  switch (decision.action) {
    case Action::kFinish:
    case Action::kDelete:
      return del(item, decision);
    case Action::kDrop:
      return drop(item, decision);
    case Action::kReport:
      report(*item, decision);
      break;
    case Action::kKeep:
    case Action::kWatch:
      break;
  }
  return undo_half_done(item);
}

aio::Task<bool> Upkeep::is_still(const Item* item, Action action) {
  MNET_CO_TRY(const bool is_in_work,
              co_await node_.is_in_work(item->cni_dir, item->record.container_id));
  if (is_in_work) co_return false;
  auto now = std::make_unique<Item>(*item);
  if (item->has_record) {
    MNET_CO_TRY(auto&& read_again, co_await read(item->cni_dir, item->record.container_id));
    if (read_again == nullptr) co_return false;
    // Another ADD has written it since.
    if (read_again->record.netns_inode != item->record.netns_inode) co_return false;
    now->record = std::move(read_again->record);
    now->facts.state = now->record.state;
    now->facts.awaits_pending = now->record.is_pending;
    if (now->record.state == model::RecordState::kCreating) {
      // An ADD that ran meanwhile may have been answered without its record having been written.
      MNET_CO_TRY(const auto& results,
                  co_await core_.core().ports.records.list_results(item->cni_dir));
      now->facts.is_complete = may_be_complete(now->record, results);
    }
  }
  MNET_CO_TRY(const auto& pending, co_await node_.list_pending(item->cni_dir));
  now->facts.has_pending = has_pending_del(pending, item->record.container_id);
  MNET_CO_TRY_VOID(co_await find_facts(now.get()));
  if (now->facts.is_empty) {
    MNET_CO_TRY(const auto& used, co_await node_.list_used_namespaces());
    now->facts.is_empty = !used.contains(now->record.netns_inode);
  }
  co_return decide(now->facts, settings_.mode).action == action;
}

// A DEL that fails is a pending DEL by the time it ends.
aio::Task<void> Upkeep::del(Item* item, Decision decision) {
  // The request that works on it now may change everything; the next round looks again.
  if (core_.core().containers.is_busy(item->record.container_id)) co_return Result<void>();
  MNET_CO_TRY(auto&& request, node_.make_del(item->cni_dir, item->record, item->ifname));
  item->request_id = request.id;
  StillNeeded rule(*this, item, decision.action);
  request.rule = &rule;
  MNET_CO_TRY([[maybe_unused]] const auto& turn, co_await node_.take_turn(request));
  if (stop_.is_set()) co_return Result<void>();
  const Log log = log_.with_request(request.id);
  const auto outcome = co_await core_.del(std::move(request));
  if (outcome && !rule.was_needed) co_return Result<void>();
  auto deleted = attach::complete(outcome);
  node_.count(name_of(decision.action), deleted.has_value());
  if (!deleted) co_return deleted;
  log.warning(cat("networks of ", described(item->record), " were deleted: ", decision.reason));
  tell_owner(*item, decision);
  co_return Result<void>();
}

aio::Task<void> Upkeep::drop(const Item* item, Decision decision) {
  const std::string& id = item->record.container_id;
  attach::Core& core = core_.core();
  MNET_CO_TRY([[maybe_unused]] const auto& lock, co_await core.containers.lock(id));
  MNET_CO_TRY(const bool is_still_so, co_await is_still(item, Action::kDrop));
  if (!is_still_so) co_return Result<void>();
  MNET_CO_TRY(const auto& record, co_await rule_.find_record(item->cni_dir, id));
  if (record) {
    for (const model::RecordedAttachment& one : record->attachments) {
      MNET_CO_TRY_VOID(
          co_await core.ports.results.remove_result(item->cni_dir, {one.cni_name, id, one.ifname}));
    }
  }
  MNET_CO_TRY(const auto& removed, co_await core.ports.records.remove(item->cni_dir, id));
  MNET_CO_TRY_VOID(removed.record);
  MNET_CO_TRY_VOID(removed.scratch);
  node_.count(name_of(Action::kDrop), true);
  log_.warning(cat("the records of ", described(item->record), " were removed: ", decision.reason));
  co_return Result<void>();
}

aio::Task<void> Upkeep::undo_half_done(Item* item) {
  if (item->facts.state != model::RecordState::kReady || item->facts.has_pending) {
    co_return Result<void>();
  }
  for (const std::string& ifname : item->half_done) {
    if (stop_.is_set()) break;
    MNET_CO_TRY_VOID(co_await undo_half_done(item, ifname));
  }
  co_return Result<void>();
}

// One network that was being plugged into a living container, or unplugged (05, 3.10).
aio::Task<void> Upkeep::undo_half_done(Item* item, std::string ifname) {
  MNET_CO_TRY(auto&& request, node_.make_del(item->cni_dir, item->record, item->ifname));
  item->request_id = request.id;
  request.rule = &rule_;
  MNET_CO_TRY([[maybe_unused]] const auto& turn, co_await node_.take_turn(request));
  const Log log = log_.with_request(request.id);
  const attach::Job job(std::move(request), attach::Verb::kDel);
  attach::Core& core = core_.core();
  MNET_CO_TRY([[maybe_unused]] const auto& lock,
              co_await core.containers.lock(item->record.container_id));
  attach::RecordAccess access(core, job);
  MNET_CO_TRY(auto&& records, co_await access.load());
  if (!records.attachment_record) co_return Result<void>();
  model::AttachmentRecord record = *records.attachment_record;
  const model::RecordedAttachment* half = record.find(ifname);
  MNET_CO_TRY(const bool is_in_work, co_await node_.is_in_work(item->cni_dir, record.container_id));
  const bool is_still_so = !is_in_work && record.state == model::RecordState::kReady &&
                           half != nullptr && is_half_done(*half);
  if (!is_still_so) co_return Result<void>();

  const model::AttachmentPtr attachment = attach::attachment_of(job, record, *half, false);
  if (half->result) co_await access.restore_result(attachment, *half->result);
  attach::Remover remover(core, job);
  const attach::Removal removal = co_await remover.remove({attachment});
  const auto removed = removal.complete();
  node_.count(name_of(Action::kFinish), removed.has_value());
  if (!removed) co_return removed;
  log.warning(cat("network ", excerpt(half->network), ", interface ", excerpt(ifname), " of ",
                  described(record), " was deleted: it was being plugged in or out"));
  if (records.delegates) {
    MNET_CO_TRY_VOID(co_await access.mark_removed(std::move(records), {ifname}));
  }
  std::erase_if(record.attachments, [&](const auto& one) { return one.ifname == ifname; });
  co_return co_await access.save_record(std::move(record));
}

void Upkeep::report(const Item& item, Decision decision) {
  if (!reported_.insert({item.cni_dir, item.record.container_id}).second) return;
  log_.warning(cat("the namespace of ", described(item.record),
                   item.facts.is_empty ? " has no process and " : " is gone and ", decision.reason,
                   ", but its networks are not deleted: ",
                   settings_.mode == Mode::kReport ? "`reconcile` is \"report\""
                                                   : "the host's namespaces cannot be seen"));
}

void Upkeep::tell_owner(const Item& item, Decision decision) const {
  attach::ObjectSource* source = core_.core().ports.source;
  if (source == nullptr || item.record.pod_name.empty()) return;
  auto pod = std::make_shared<model::PodObject>();
  pod->ns = item.record.pod_ns;
  pod->name = item.record.pod_name;
  pod->uid = item.record.pod_uid;
  source->send({.pod = std::move(pod),
                .is_warning = false,
                .reason = model::kRemovedLeftovers,
                .message = cat("networks of container ", item.record.container_id,
                               " were removed: ", decision.reason),
                .request_id = item.request_id});
}

}  // namespace mnet::upkeep
