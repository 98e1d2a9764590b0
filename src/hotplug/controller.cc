#include "hotplug/controller.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "aio/cancel.h"
#include "aio/root.h"
#include "aio/task.h"
#include "aio/timer.h"
#include "attach/attach.h"
#include "attach/container_records.h"
#include "attach/core.h"
#include "attach/ports.h"
#include "attach/recorded_attachments.h"
#include "attach/source.h"
#include "base/backoff.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/cache.h"
#include "hotplug/pass.h"
#include "model/attachment_record.h"
#include "model/event_reasons.h"
#include "model/hotplug_settings.h"
#include "model/objects.h"
#include "model/requested_networks.h"

namespace mnet::hotplug {
namespace {

constexpr std::size_t kMostOfReason = 1000;
constexpr std::size_t kMostTold = 100;
constexpr std::chrono::hours kNever{24 * 365};
// Pauses of retries that concern the pod as a whole.
constexpr std::string_view kWhole = "";
constexpr std::string_view kStatus = "status";
constexpr std::string_view kRest = "rest";
constexpr std::size_t kMostRetries = 100;  // of one container, each by itself; the others together
constexpr std::size_t kMostRemoved = 20;   // of one container; the oldest are forgotten

// The store has only the keys of a pod that is cut; the pass reads the text.
bool is_other(const model::PodObject& before, const model::PodObject& now) {
  if (now.is_cut || before.is_cut) return before.resource_version != now.resource_version;
  const std::string* was = before.annotation(model::kNetworksAnnotation);
  const std::string* is = now.annotation(model::kNetworksAnnotation);
  if ((was == nullptr) != (is == nullptr)) return true;
  return was != nullptr && *was != *is;
}

std::string pod_key(const model::AttachmentRecord& record) {
  return cat(record.pod_ns, "/", record.pod_name);
}

// The key is `<ns>/<name>`.
std::string_view ns_in(std::string_view pod_key) { return pod_key.substr(0, pod_key.find('/')); }

std::string created_at(const model::AttachmentRecord& record) {
  return record.attachments.empty() ? std::string() : record.attachments.front().added_at;
}

}  // namespace

// What the pass of one container may ask, and what it reports.
class Controller::Host : public PassHost {
 public:
  Host(Controller& owner, std::string container_id)
      : owner_(owner), container_id_(std::move(container_id)) {}

  bool stops() const override { return owner_.stops_; }

  bool may_try(const Operation& operation) override {
    Entry* entry = find();
    if (entry == nullptr) return false;
    const auto found = entry->retries.find(operation.key());
    const bool is_early = found == entry->retries.end() ? rest_is_early(*entry)
                                                        : owner_.timer_.now() < found->second.due;
    if (is_early) return false;
    // An edit is counted once, whatever follows from it.
    if (!has_credit_) has_credit_ = entry->continues || owner_.take_credit(*entry);
    return has_credit_;
  }

  void note(const model::PodObjectPtr& pod, const Operation& operation,
            std::chrono::steady_clock::duration took, const Result<void>& outcome,
            bool is_rejected) override;

  void tell(const model::PodObjectPtr& pod, Notice notice) override {
    Entry* entry = find();
    if (entry == nullptr) return;
    if (entry->told.size() > kMostTold) entry->told.clear();
    if (!entry->told.insert(sha256_hex(cat(notice.reason, " ", notice.value))).second) return;
    std::string message = excerpt(notice.message, kMostOfReason);
    owner_.log_.warning(cat("pod ", pod->key(), ": ", message));
    if (!entry->is_quiet) owner_.send(pod, true, notice.reason, std::move(message));
  }

 private:
  Entry* find() const {
    const auto found = owner_.entries_.find(container_id_);
    return found == owner_.entries_.end() ? nullptr : &found->second;
  }
  void tell_failure(Entry& entry, const model::PodObjectPtr& pod, const Operation& operation,
                    const Error& why, bool is_rejected);
  // Decided at the beginning of the pass, so that it tries all of them or none.
  bool rest_is_early(const Entry& entry) {
    if (!rest_is_early_) {
      const auto rest = entry.retries.find(std::string(kRest));
      rest_is_early_ = rest != entry.retries.end() && owner_.timer_.now() < rest->second.due;
    }
    return *rest_is_early_;
  }

  std::optional<bool> rest_is_early_;
  Controller& owner_;
  const std::string container_id_;
  bool has_credit_ = false;
};

void Controller::Host::note(const model::PodObjectPtr& pod, const Operation& operation,
                            std::chrono::steady_clock::duration took, const Result<void>& outcome,
                            bool is_rejected) {
  const End end = outcome ? End::kOk : (is_rejected ? End::kRejected : End::kError);
  ++owner_.operations_[{operation.op, end}];
  if (!is_rejected) owner_.node_.observe(operation.op, took);
  const auto milliseconds = std::chrono::duration_cast<Time>(took).count();
  const std::string what = cat("hot-plug: ", operation.key(), " of pod ", pod->key(), ", UID ",
                               pod->uid, ", container ", container_id_, ", ", milliseconds, " ms");
  Entry* entry = find();
  if (outcome) {
    owner_.log_.verbose(what);
    if (entry != nullptr) entry->retries.erase(operation.key());
    // PlugIn itself reports what it has added.
    if (operation.op == Op::kAdd) return;
    owner_.send(pod, false, model::kRemovedInterface,
                cat("Remove ", operation.ifname, " from ", excerpt(operation.network)));
    return;
  }
  owner_.log_.error(cat(what, ": ", excerpt(outcome.error().text(), kMostOfReason)));
  if (entry == nullptr || outcome.error().code() == Errc::kCancelled) return;
  // A pod's author chooses how many networks fail.
  const bool is_one_of_many =
      entry->retries.size() >= kMostRetries && !entry->retries.contains(operation.key());
  owner_.fail(*entry, is_one_of_many ? std::string(kRest) : operation.key());
  if (!is_one_of_many) tell_failure(*entry, pod, operation, outcome.error(), is_rejected);
}

// The same failure is reported again only after a while.
void Controller::Host::tell_failure(Entry& entry, const model::PodObjectPtr& pod,
                                    const Operation& operation, const Error& why,
                                    bool is_rejected) {
  Retry& retry = owner_.retry_of(entry, operation.key());
  const auto now = owner_.timer_.now();
  const std::string shown = excerpt(why.text(), kMostOfReason);
  const std::size_t hash = std::hash<std::string>()(shown);
  const bool is_known = retry.reason == hash && now - retry.told < owner_.times_.event;
  if (is_known) return;
  retry.reason = hash;
  retry.told = now;
  const bool is_add = operation.op == Op::kAdd;
  std::string_view reason =
      is_add ? model::kFailedAddingInterface : model::kFailedRemovingInterface;
  if (is_rejected) reason = model::kInterfaceAddRejected;
  owner_.send(pod, true, reason,
              cat("Failed to ", is_add ? "add " : "remove ", operation.ifname, " from ",
                  excerpt(operation.network), ": ", shown));
}

Controller::Controller(const aio::asio::any_io_executor& executor, attach::Attachments& attachments,
                       Node& node, model::HotplugSettings settings, Log log, ControllerTimes times,
                       Random random, aio::Timer& timer)
    : attachments_(attachments),
      node_(node),
      settings_(std::move(settings)),
      log_(log),
      times_(times),
      random_(std::move(random)),
      timer_(timer),
      passes_(executor, std::move(log)) {}

void Controller::stop() {
  stops_ = true;
  change_.set();
}

// Two daemons never act at the same time: the one that ends returns the lock after its last pass.
aio::Task<void> Controller::run() {
  MNET_CO_TRY(const auto& lock, co_await wait_for_lock());
  if (lock == nullptr) co_return Result<void>();
  log_.verbose("hot-plug: edits of the networks annotation are applied to running pods");
  MNET_CO_TRY(const bool is_whole, co_await list_all(times_.spread));
  is_active_ = true;
  auto followed = co_await follow(is_whole);
  is_active_ = false;
  // Running passes end, and ask whether they may go on; but not if this task is cancelled.
  if (!followed) passes_.cancel();
  (void)co_await aio::shielded(passes_.join());
  co_return followed;
}

// If some containers could not be listed, nothing is known about them: list them again soon.
aio::Task<void> Controller::follow(bool is_whole) {
  const Time period = settings_.resync.count() > 0 ? settings_.resync : kNever;
  Backoff soon(settings_.retry_initial, settings_.retry_max, random_, kFifth);
  const auto pause_after = [&](bool is_listed) {
    if (is_listed) soon.reset();
    return is_listed ? period : std::min(soon.next(), period);
  };
  auto resync = timer_.now() + pause_after(is_whole);
  while (!stops_) {
    change_.reset();
    const auto unread = std::exchange(unread_, {});
    for (const auto& [id, cni_dir] : unread) {
      MNET_CO_TRY_VOID(co_await add_entry(cni_dir, id));
    }
    if (timer_.now() >= resync) {
      MNET_CO_TRY(is_whole, co_await list_all(times_.spread));
      resync = timer_.now() + pause_after(is_whole);
    }
    start_due();
    const auto until = std::min(next_due().value_or(resync), resync);
    const auto pause = std::max<aio::Timer::Duration>(until - timer_.now(), Time(1));
    auto waited = co_await timer_.wait_for(&change_, pause);
    if (!waited && waited.error().code() != Errc::kTimeout) co_return waited;
  }
  co_return Result<void>();
}

aio::Task<std::shared_ptr<void>> Controller::wait_for_lock() {
  bool is_told = false, waits = false;
  while (!stops_) {
    if (node_.is_loaded()) {
      auto lock = node_.try_lock();
      if (!lock && !std::exchange(is_told, true)) {
        log_.error("hot-plug waits for its lock", lock.error());
      }
      if (lock && *lock != nullptr) co_return *std::move(lock);
      if (lock && !std::exchange(waits, true)) {
        log_.verbose("hot-plug waits for another daemon of this node, which ends its last pass");
      }
    }
    change_.reset();
    auto waited = co_await timer_.wait_for(&change_, times_.look);
    if (!waited && waited.error().code() != Errc::kTimeout) co_return std::move(waited).error();
  }
  co_return std::shared_ptr<void>();
}

// At the start, and again from time to time: we hear nothing of what another daemon's request
// changed.
aio::Task<bool> Controller::list_all(Time spread) {
  const std::set<std::string> directories = node_.directories();
  bool is_whole = true;
  for (const std::string& directory : directories) {
    auto listed = co_await list(directory, spread);
    if (listed) continue;
    if (listed.error().code() == Errc::kCancelled) co_return std::move(listed).error();
    is_whole = false;
    log_.error(cat("hot-plug: cannot list the records below ", directory), listed.error());
  }
  // Also those that are no longer listed: their passes find that out.
  for (const auto& [id, entry] : entries_) {
    if (!entry.due) enqueue(id, within(spread));
  }
  co_return is_whole;
}

Controller::Instant Controller::within(Time spread) const {
  return timer_.now() + std::chrono::duration_cast<Time>(spread * std::min(random_(), 1.0));
}

aio::Task<void> Controller::list(std::string cni_dir, Time spread) {
  attach::Records& records = attachments_.core().ports.records;
  MNET_CO_TRY(const auto& ids, co_await records.list(cni_dir));
  std::optional<attach::CacheOverview> results;  // thousands of files that are rarely needed
  for (const std::string& id : ids) {
    if (entries_.contains(id)) continue;
    const auto due = within(spread);
    auto record = co_await attach::find_record(&records, cni_dir, id);
    if (!record && record.error().code() == Errc::kCancelled) co_return record.error();
    if (!record) {
      put_unread(cni_dir, id, due, true);
      continue;
    }
    if (*record) {
      put(cni_dir, **record, due, true);
      continue;
    }
    // Made by another multus.
    if (!results) {
      MNET_CO_TRY(results, co_await records.list_results(cni_dir));
    }
    const cni::CachedContainer* cached = results->find(id);
    if (cached != nullptr) put(cni_dir, attach::header_of(*cached), due, true);
    if (cached == nullptr && !results->unreadable.empty()) put_unread(cni_dir, id, due, true);
  }
  co_return Result<void>();
}

aio::Task<void> Controller::add_entry(std::string cni_dir, std::string container_id) {
  auto record =
      co_await attach::find_record(&attachments_.core().ports.records, cni_dir, container_id);
  if (!record && record.error().code() == Errc::kCancelled) co_return record.error();
  if (!record) put_unread(cni_dir, container_id, timer_.now(), false);
  if (record && *record) put(cni_dir, **record, timer_.now(), false);
  co_return Result<void>();
}

Controller::Entry& Controller::entry_of(const std::string& cni_dir, const std::string& container_id,
                                        bool is_quiet) {
  const auto [place, is_new] = entries_.try_emplace(container_id);
  Entry& entry = place->second;
  entry.cni_dir = cni_dir;
  if (is_new) {
    entry.is_quiet = is_quiet;
    entry.credit = times_.burst;
    entry.credited = timer_.now();
  }
  return entry;
}

void Controller::put(const std::string& cni_dir, const model::AttachmentRecord& record, Instant due,
                     bool is_quiet) {
  if (record.pod_name.empty()) return;
  Entry& entry = entry_of(cni_dir, record.container_id, is_quiet);
  entry.pod_key = pod_key(record);
  entry.created = created_at(record);
  enqueue(record.container_id, due);
}

void Controller::put_unread(const std::string& cni_dir, const std::string& container_id,
                            Instant due, bool is_quiet) {
  (void)entry_of(cni_dir, container_id, is_quiet);
  enqueue(container_id, due);
}

void Controller::enqueue(const std::string& container_id, Instant due) {
  const auto found = entries_.find(container_id);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  if (!entry.due || due < *entry.due) entry.due = due;
  change_.set();
}

void Controller::pod_changed(const model::PodObjectPtr& before, const model::PodObjectPtr& now) {
  if (now == nullptr) return;
  tell_of_host_network(before, now);
  if (before != nullptr && !is_other(*before, *now)) return;
  const std::string key = now->key();
  for (auto& [id, entry] : entries_) {
    if (entry.pod_key != key) continue;
    // Seeing a pod for the first time is not an edit.
    if (before != nullptr) {
      entry.is_quiet = false;
      if (!entry.differs_since) entry.differs_since = timer_.now();
      forgive(entry);
    }
    enqueue(id, timer_.now() + times_.merge);
  }
}

// The pod has no container of its own; reported once for each annotation.
void Controller::tell_of_host_network(const model::PodObjectPtr& before,
                                      const model::PodObjectPtr& now) {
  if (!is_active_ || !now->is_in_host_network || now->is_being_deleted || now->is_cut) return;
  if (!settings_.includes(now->ns)) return;
  const std::string* text = now->annotation(model::kNetworksAnnotation);
  if (text == nullptr || trim(*text).empty() || trim(*text) == "[]") return;
  if (before != nullptr && !is_other(*before, *now)) return;
  send(now, true, model::kInterfaceAddRejected,
       "Will not add interfaces to a pod in the host's network");
}

void Controller::network_changed(const std::string& key) {
  const std::string end = cat(" ", key);
  for (auto& [id, entry] : entries_) {
    std::vector<Retry*> waiting;
    for (auto& [operation, retry] : entry.retries) {
      if (operation.starts_with("add ") && operation.ends_with(end)) waiting.push_back(&retry);
    }
    if (waiting.empty()) continue;
    const Instant allowed = when_allowed(entry);
    if (entry.credit >= 1) {
      for (Retry* retry : waiting) try_anew(*retry);
    }
    enqueue(id, allowed);
  }
}

void Controller::container_changed(const std::string& cni_dir, const std::string& container_id) {
  unread_[container_id] = cni_dir;
  change_.set();
}

void Controller::client_called(const std::string& cni_dir, const std::string& container_id) {
  has_clients_ = true;
  container_changed(cni_dir, container_id);
  const auto found = entries_.find(container_id);
  if (found == entries_.end()) return;
  found->second.status_check = timer_.now() + times_.client;
  enqueue(container_id, *found->second.status_check);
}

void Controller::container_gone(const std::string& container_id) {
  unread_.erase(container_id);
  entries_.erase(container_id);
}

// Chooses, among the containers that are due, one of the namespace with the fewest workers. The
// last worker is left to namespaces that have none.
const std::pair<const std::string, Controller::Entry>* Controller::find_next() const {
  std::map<std::string_view, std::size_t> running;
  for (const auto& [id, entry] : entries_)
    running[ns_in(entry.pod_key)] += entry.is_running ? 1 : 0;
  const bool is_last = settings_.workers > 1 && running_ + 1 >= settings_.workers;
  const Instant now = timer_.now();
  const auto rank = [&](const Entry& entry) {
    const bool is_due = *entry.due <= now;
    return std::tuple(!is_due, is_due ? running[ns_in(entry.pod_key)] : 0, *entry.due);
  };
  const std::pair<const std::string, Entry>* next = nullptr;
  for (const auto& one : entries_) {
    const Entry& entry = one.second;
    if (!entry.due || entry.is_running || (is_last && running[ns_in(entry.pod_key)] > 0)) continue;
    if (next == nullptr || rank(entry) < rank(next->second)) next = &one;
  }
  return next;
}

std::optional<Controller::Instant> Controller::next_due() const {
  if (running_ >= settings_.workers) return std::nullopt;
  const auto* next = find_next();
  return next == nullptr ? std::nullopt : next->second.due;
}

// In the order in which they became due, as far as namespaces allow: containers whose plugins hang
// again and again must not keep a worker from the others.
void Controller::start_due() {
  while (running_ < settings_.workers && !stops_) {
    const auto* next = find_next();
    if (next == nullptr || timer_.now() < *next->second.due) return;
    const std::string id = next->first;
    Entry& entry = entries_.at(id);
    entry.due.reset();
    entry.is_running = true;
    ++running_;
    if (passes_.spawn("hot-plug", handle(id))) continue;
    entry.is_running = false;
    --running_;
    return;
  }
}

aio::Task<void> Controller::handle(std::string container_id) {
  Host host(*this, container_id);
  Entry& entry = entries_.at(container_id);
  Result<PassOutcome> passed = PassOutcome();
  StatusCheck check = take_check(entry);
  const bool checks = check.is_due;
  if (!has_newer(container_id, entry)) {
    // A defect ends this pass, and must not take its worker away.
    passed = co_await aio::root(pass(container_id, entry.cni_dir, std::move(check), &host));
  }
  --running_;
  conclude(container_id, passed);
  conclude_check(container_id, checks, passed);
  change_.set();
  co_return Result<void>();
}

// If a pod has several containers, its newest living one counts.
bool Controller::has_newer(const std::string& container_id, const Entry& entry) const {
  return std::ranges::any_of(entries_, [&](const auto& other) {
    return other.first != container_id && other.second.pod_key == entry.pod_key &&
           other.second.is_alive && other.second.created > entry.created;
  });
}

StatusCheck Controller::take_check(Entry& entry) const {
  if (!entry.status_check || timer_.now() < *entry.status_check) return {};
  entry.status_check.reset();
  return {.is_due = true, .removed = entry.removed};
}

// One that failed is made again with the next pass.
void Controller::conclude_check(const std::string& container_id, bool was_due,
                                const Result<PassOutcome>& passed) {
  const auto found = entries_.find(container_id);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  if (was_due) {
    const bool is_done = passed && passed->status;
    if (is_done) entry.removed.clear();
    if (!is_done && !entry.status_check) entry.status_check = timer_.now();
  }
  if (passed && has_clients_) {
    entry.removed.insert(entry.removed.end(), passed->removed.begin(), passed->removed.end());
    if (entry.removed.size() > kMostRemoved) {
      entry.removed.erase(entry.removed.begin(), entry.removed.end() - kMostRemoved);
    }
  }
  if (!was_due && entry.status_check) enqueue(container_id, *entry.status_check);
}

aio::Task<PassOutcome> Controller::pass(std::string container_id, std::string cni_dir,
                                        StatusCheck check, PassHost* host) {
  attach::Core& core = attachments_.core();
  MNET_CO_TRY(auto&& found,
              co_await attach::find_record(&core.ports.records, cni_dir, container_id));
  model::AttachmentRecord header;
  if (found) {
    header = *std::move(found);
  } else {
    MNET_CO_TRY(const auto& results, co_await core.ports.records.list_results(cni_dir));
    const cni::CachedContainer* cached = results.find(container_id);
    if (cached == nullptr) {
      // A record that cannot be read may be this container's.
      MNET_CO_TRY_VOID(results.unreadable.join(" / "));
      co_return PassOutcome{.is_recorded = false};
    }
    header = attach::header_of(*cached);
  }
  if (const auto entry = entries_.find(container_id);
      entry != entries_.end() && entry->second.pod_key.empty()) {
    entry->second.pod_key = pod_key(header);
    entry->second.created = created_at(header);
  }
  header.attachments.clear();
  const auto pod = node_.find_pod(header.pod_ns, header.pod_name);
  if (pod == nullptr || !(header.is_static || pod->fits(header.pod_uid))) co_return PassOutcome();
  MNET_CO_TRY(auto&& request, node_.make_request(cni_dir, header));
  MNET_CO_TRY([[maybe_unused]] const auto& turn, co_await node_.take_turn(request));
  Pass pass(core, settings_, *host, std::move(request), std::move(check), timer_);
  co_return co_await pass.run();
}

void Controller::conclude(const std::string& container_id, const Result<PassOutcome>& passed) {
  const auto found = entries_.find(container_id);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  entry.is_running = false;
  entry.is_quiet = false;
  if (!passed) {
    // A DEL took its place in the queue, which may end without having changed anything.
    if (passed.error().code() == Errc::kCancelled) {
      if (!stops_) enqueue(container_id, timer_.now() + settings_.retry_initial);
      return;
    }
    log_.error(cat("hot-plug: container ", container_id, " cannot be compared with its pod"),
               passed.error());
    fail(entry, std::string(kWhole));
    return enqueue(container_id, retry_of(entry, std::string(kWhole)).due);
  }
  if (!passed->is_recorded) {
    entries_.erase(found);
    return;
  }
  const bool has_died = entry.is_alive && !passed->is_alive;
  entry.is_alive = passed->is_alive;
  entry.wanted = passed->wanted;
  entry.present = passed->present;
  entry.failing = passed->failing.size();
  if (!passed->status) {
    log_.warning(cat("hot-plug: the network status of pod ", entry.pod_key,
                     " lags behind: ", passed->status.error().text()));
    fail(entry, std::string(kStatus));
  }
  std::erase_if(entry.retries, [&](const auto& one) {
    if (passed->is_unfinished) return false;
    if (one.first == kRest) return passed->failing.size() <= kMostRetries;
    return !passed->failing.contains(one.first) && (one.first != kStatus || passed->status);
  });
  const bool differs = entry.failing > 0 || passed->is_unfinished || !passed->status;
  if (!differs) entry.differs_since.reset();
  if (differs && !entry.differs_since) entry.differs_since = timer_.now();
  for (const auto& [key, retry] : entry.retries) enqueue(container_id, retry.due);
  // Operations that were put off for want of credit are tried when there is some.
  if (entry.failing > 0 && entry.credit < 1) enqueue(container_id, when_allowed(entry));
  entry.continues = passed->is_unfinished;
  if (entry.continues) enqueue(container_id, timer_.now());
  if (!has_died) return;
  for (auto& [id, other] : entries_) {
    if (other.pod_key == entry.pod_key && id != container_id) enqueue(id, timer_.now());
  }
}

Controller::Retry& Controller::retry_of(Entry& entry, const std::string& key) {
  return entry.retries
      .try_emplace(key, Backoff(settings_.retry_initial, settings_.retry_max, random_, kFifth))
      .first->second;
}

void Controller::fail(Entry& entry, const std::string& key) {
  Retry& retry = retry_of(entry, key);
  retry.due = timer_.now() + retry.backoff.next();
}

// An edit is tried at once, unless the pod's annotation flaps.
void Controller::forgive(Entry& entry) {
  (void)when_allowed(entry);
  if (entry.credit < 1) return;
  for (auto& [key, retry] : entry.retries) try_anew(retry);
}

void Controller::try_anew(Retry& retry) const {
  retry.backoff.reset();
  retry.due = timer_.now();
}

Controller::Instant Controller::when_allowed(Entry& entry) {
  const auto now = timer_.now();
  const std::chrono::duration<double> passed = now - entry.credited;
  const std::chrono::duration<double> refill = times_.refill;
  entry.credit = std::min(times_.burst, entry.credit + passed / refill);
  entry.credited = now;
  if (entry.credit >= 1) return now;
  return now + std::chrono::ceil<Time>(refill * (1 - entry.credit));
}

bool Controller::take_credit(Entry& entry) {
  (void)when_allowed(entry);
  if (entry.credit < 1) return false;
  entry.credit -= 1;
  return true;
}

void Controller::send(const model::PodObjectPtr& pod, bool is_warning, std::string_view reason,
                      std::string message) {
  attach::ObjectSource* source = attachments_.core().ports.source;
  if (source == nullptr) return;
  source->send({.pod = pod,
                .is_warning = is_warning,
                .reason = std::string(reason),
                .message = std::move(message)});
}

Controller::Counts Controller::counts() const {
  const auto now = timer_.now();
  Counts sum;
  for (const auto& [id, entry] : entries_) {
    sum.wanted += entry.wanted;
    sum.present += entry.present;
    sum.failing += entry.failing;
    const bool waits = entry.due && *entry.due <= now;
    if (entry.differs_since || entry.is_running || waits) ++sum.pending;
  }
  return sum;
}

std::chrono::seconds Controller::oldest_difference() const {
  const auto now = timer_.now();
  auto oldest = now;
  for (const auto& [id, entry] : entries_) {
    if (entry.differs_since) oldest = std::min(oldest, *entry.differs_since);
  }
  return std::chrono::duration_cast<std::chrono::seconds>(now - oldest);
}

}  // namespace mnet::hotplug
