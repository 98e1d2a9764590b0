#include "hotplug/controller.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "aio/cancel.h"
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
#include "base/text.h"
#include "base/try.h"
#include "cni/cache.h"
#include "hotplug/pass.h"
#include "model/attachment_record.h"
#include "model/hotplug_settings.h"
#include "model/objects.h"
#include "model/requested_networks.h"

namespace mnet::hotplug {
namespace {

constexpr std::size_t kMostOfReason = 1000;
constexpr std::size_t kMostTold = 100;
constexpr std::chrono::hours kNever{24 * 365};
// Of retries that are about no single network.
constexpr std::string_view kWhole = "";
constexpr std::string_view kStatus = "status";

// One that is cut is read by the pass: its text may have changed.
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

std::string created_at(const model::AttachmentRecord& record) {
  return record.attachments.empty() ? std::string() : record.attachments.front().added_at;
}

}  // namespace

// What a pass may ask and tell of one container.
class Controller::Host : public PassHost {
 public:
  Host(Controller& owner, std::string container_id)
      : owner_(owner), container_id_(std::move(container_id)) {}

  bool stops() const override { return owner_.stops_; }

  bool may_try(const Operation& operation) override {
    Entry* entry = find();
    if (entry == nullptr) return false;
    const auto found = entry->retries.find(operation.key());
    const bool is_early = found != entry->retries.end() && owner_.timer_.now() < found->second.due;
    if (is_early) return false;
    // A pass counts once, whatever it does.
    if (!has_credit_) has_credit_ = owner_.take_credit(*entry);
    return has_credit_;
  }

  void note(const model::PodObjectPtr& pod, const Operation& operation,
            std::chrono::steady_clock::duration took, const Result<void>& outcome,
            bool is_rejected) override;

  void tell(const model::PodObjectPtr& pod, Notice notice) override {
    Entry* entry = find();
    if (entry == nullptr) return;
    if (entry->told.size() > kMostTold) entry->told.clear();
    if (!entry->told.insert(cat(notice.reason, " ", notice.value)).second) return;
    owner_.log_.warning(cat("pod ", pod->key(), ": ", notice.message));
    if (!entry->is_quiet) owner_.send(pod, true, notice.reason, std::move(notice.message));
  }

 private:
  Entry* find() const {
    const auto found = owner_.entries_.find(container_id_);
    return found == owner_.entries_.end() ? nullptr : &found->second;
  }
  void tell_failure(Entry& entry, const model::PodObjectPtr& pod, const Operation& operation,
                    const Error& why, bool is_rejected);

  Controller& owner_;
  const std::string container_id_;
  bool has_credit_ = false;
};

void Controller::Host::note(const model::PodObjectPtr& pod, const Operation& operation,
                            std::chrono::steady_clock::duration took, const Result<void>& outcome,
                            bool is_rejected) {
  const End end = outcome ? End::kOk : (is_rejected ? End::kRejected : End::kError);
  ++owner_.operations_[{operation.op, end}];
  owner_.time_spent_ += took;
  const auto milliseconds = std::chrono::duration_cast<Time>(took).count();
  const std::string what = cat("hot-plug: ", operation.key(), " of pod ", pod->key(), ", UID ",
                               pod->uid, ", container ", container_id_, ", ", milliseconds, " ms");
  Entry* entry = find();
  if (outcome) {
    owner_.log_.verbose(what);
    if (entry != nullptr) entry->retries.erase(operation.key());
    // PlugIn tells of what it has added.
    if (operation.op == Op::kAdd) return;
    owner_.send(pod, false, "RemovedInterface",
                cat("Remove ", operation.ifname, " from ", excerpt(operation.network)));
    return;
  }
  owner_.log_.error(what, outcome.error());
  if (entry == nullptr || outcome.error().code() == Errc::kCancelled) return;
  owner_.fail(*entry, operation.key());
  tell_failure(*entry, pod, operation, outcome.error(), is_rejected);
}

// The same failure is told again after a while only.
void Controller::Host::tell_failure(Entry& entry, const model::PodObjectPtr& pod,
                                    const Operation& operation, const Error& why,
                                    bool is_rejected) {
  Retry& retry = owner_.retry_of(entry, operation.key());
  const auto now = owner_.timer_.now();
  const bool is_known = retry.reason == why.text() && now - retry.told < owner_.times_.event;
  if (is_known) return;
  retry.reason = why.text();
  retry.told = now;
  const bool is_add = operation.op == Op::kAdd;
  std::string_view reason = is_add ? "FailedAddingInterface" : "FailedRemovingInterface";
  if (is_rejected) reason = "InterfaceAddRejected";
  owner_.send(pod, true, reason,
              cat("Failed to ", is_add ? "add " : "remove ", operation.ifname, " from ",
                  excerpt(operation.network), ": ", excerpt(why.text(), kMostOfReason)));
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

// Two daemons never both act: the one that ends gives the lock back with its last pass.
aio::Task<void> Controller::run() {
  MNET_CO_TRY(const auto& lock, co_await wait_for_lock());
  if (lock == nullptr) co_return Result<void>();
  log_.verbose("hot-plug: edits of the networks annotation are applied to running pods");
  MNET_CO_TRY_VOID(co_await list_all(times_.spread));
  is_active_ = true;
  auto followed = co_await follow();
  is_active_ = false;
  // What has begun ends, and asks whether it may go on; but not if this is cancelled.
  if (!followed) passes_.cancel();
  (void)co_await aio::shielded(passes_.join());
  co_return followed;
}

aio::Task<void> Controller::follow() {
  const Time period = settings_.resync.count() > 0 ? settings_.resync : kNever;
  auto resync = timer_.now() + period;
  while (!stops_) {
    change_.reset();
    const auto unread = std::exchange(unread_, {});
    for (const auto& [id, cni_dir] : unread) {
      MNET_CO_TRY_VOID(co_await add_entry(cni_dir, id));
    }
    if (timer_.now() >= resync) {
      MNET_CO_TRY_VOID(co_await list_all(times_.spread));
      resync = timer_.now() + period;
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
  bool is_told = false;
  while (!stops_) {
    if (node_.is_loaded()) {
      auto lock = node_.try_lock();
      if (!lock && !std::exchange(is_told, true)) {
        log_.error("hot-plug waits for its lock", lock.error());
      }
      if (lock && *lock != nullptr) co_return *std::move(lock);
    }
    change_.reset();
    auto waited = co_await timer_.wait_for(&change_, times_.look);
    if (!waited && waited.error().code() != Errc::kTimeout) co_return std::move(waited).error();
  }
  co_return std::shared_ptr<void>();
}

// At the start, and again from time to time: what a request of another daemon changed is not told.
aio::Task<void> Controller::list_all(Time spread) {
  const std::set<std::string> directories = node_.directories();
  for (const std::string& directory : directories) {
    auto listed = co_await list(directory, spread);
    if (listed) continue;
    if (listed.error().code() == Errc::kCancelled) co_return std::move(listed);
    log_.error(cat("hot-plug: cannot list the records below ", directory), listed.error());
  }
  co_return Result<void>();
}

aio::Task<void> Controller::list(std::string cni_dir, Time spread) {
  attach::Records& records = attachments_.core().ports.records;
  MNET_CO_TRY(const auto& ids, co_await records.list(cni_dir));
  MNET_CO_TRY(const auto& results, co_await records.list_results(cni_dir));
  for (const std::string& id : ids) {
    const auto due =
        timer_.now() + std::chrono::duration_cast<Time>(spread * std::min(random_(), 1.0));
    if (entries_.contains(id)) {
      enqueue(id, due);
      continue;
    }
    auto record = co_await attach::find_record(&records, cni_dir, id);
    if (!record && record.error().code() == Errc::kCancelled) co_return record.error();
    if (record && *record) {
      put(cni_dir, **record, due, true);
      continue;
    }
    // Made by another multus.
    const auto entry = std::ranges::find(results.entries, id, &cni::CacheEntry::container_id);
    if (entry != results.entries.end()) put(cni_dir, attach::header_of(*entry), due, true);
  }
  co_return Result<void>();
}

aio::Task<void> Controller::add_entry(std::string cni_dir, std::string container_id) {
  auto record =
      co_await attach::find_record(&attachments_.core().ports.records, cni_dir, container_id);
  if (!record && record.error().code() == Errc::kCancelled) co_return record.error();
  if (record && *record) put(cni_dir, **record, timer_.now(), false);
  co_return Result<void>();
}

void Controller::put(const std::string& cni_dir, const model::AttachmentRecord& record, Instant due,
                     bool is_quiet) {
  if (record.pod_name.empty()) return;
  Entry& entry = entries_[record.container_id];
  const bool is_new = entry.pod_key.empty();
  entry.cni_dir = cni_dir;
  entry.pod_key = pod_key(record);
  entry.created = created_at(record);
  if (is_new) {
    entry.is_quiet = is_quiet;
    entry.credit = times_.burst;
    entry.credited = timer_.now();
  }
  enqueue(record.container_id, due);
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
    // The first sight of a pod is not an edit.
    if (before != nullptr) {
      entry.is_quiet = false;
      forgive(entry);
    }
    enqueue(id, timer_.now() + times_.merge);
  }
}

// It has no container of its own; once for each annotation.
void Controller::tell_of_host_network(const model::PodObjectPtr& before,
                                      const model::PodObjectPtr& now) {
  if (!is_active_ || !now->is_in_host_network || now->is_being_deleted || now->is_cut) return;
  const std::string* text = now->annotation(model::kNetworksAnnotation);
  if (text == nullptr || trim(*text).empty() || trim(*text) == "[]") return;
  if (before != nullptr && !is_other(*before, *now)) return;
  send(now, true, "InterfaceAddRejected", "Will not add interfaces to a pod in the host's network");
}

void Controller::network_changed(const std::string& key) {
  for (auto& [id, entry] : entries_) {
    bool waits = false;
    for (auto& [operation, retry] : entry.retries) {
      if (!operation.starts_with("add ") || !operation.ends_with(cat(" ", key))) continue;
      waits = true;
      if (entry.credit >= 1) retry.due = timer_.now();
    }
    if (waits) enqueue(id, when_allowed(entry));
  }
}

void Controller::container_changed(const std::string& cni_dir, const std::string& container_id) {
  unread_[container_id] = cni_dir;
  change_.set();
}

void Controller::container_gone(const std::string& container_id) {
  unread_.erase(container_id);
  entries_.erase(container_id);
}

std::optional<Controller::Instant> Controller::next_due() const {
  std::optional<Instant> next;
  if (running_ >= settings_.workers) return next;
  for (const auto& [id, entry] : entries_) {
    if (!entry.due || entry.is_running) continue;
    if (!next || *entry.due < *next) next = entry.due;
  }
  return next;
}

void Controller::start_due() {
  const auto now = timer_.now();
  for (auto& [id, entry] : entries_) {
    if (running_ >= settings_.workers || stops_) return;
    if (!entry.due || entry.is_running || now < *entry.due) continue;
    entry.due.reset();
    entry.is_running = true;
    ++running_;
    if (!passes_.spawn("hot-plug", handle(id))) --running_;
  }
}

aio::Task<void> Controller::handle(std::string container_id) {
  Host host(*this, container_id);
  const Entry& entry = entries_.at(container_id);
  Result<PassOutcome> passed = PassOutcome();
  if (!has_newer(container_id, entry)) {
    passed = co_await pass(container_id, entry.cni_dir, &host);
  }
  --running_;
  conclude(container_id, passed);
  change_.set();
  co_return Result<void>();
}

// Of a pod that has several containers the newest that lives counts.
bool Controller::has_newer(const std::string& container_id, const Entry& entry) const {
  return std::ranges::any_of(entries_, [&](const auto& other) {
    return other.first != container_id && other.second.pod_key == entry.pod_key &&
           other.second.is_alive && other.second.created > entry.created;
  });
}

aio::Task<PassOutcome> Controller::pass(std::string container_id, std::string cni_dir,
                                        PassHost* host) {
  attach::Core& core = attachments_.core();
  MNET_CO_TRY(auto&& found,
              co_await attach::find_record(&core.ports.records, cni_dir, container_id));
  model::AttachmentRecord header;
  if (found) {
    header = *std::move(found);
  } else {
    MNET_CO_TRY(const auto& results, co_await core.ports.records.list_results(cni_dir));
    const auto entry =
        std::ranges::find(results.entries, container_id, &cni::CacheEntry::container_id);
    if (entry == results.entries.end()) co_return PassOutcome();
    header = attach::header_of(*entry);
  }
  header.attachments.clear();
  const auto pod = node_.find_pod(header.pod_ns, header.pod_name);
  if (pod == nullptr || !(header.is_static || pod->fits(header.pod_uid))) co_return PassOutcome();
  MNET_CO_TRY(auto&& request, node_.make_request(cni_dir, header));
  MNET_CO_TRY([[maybe_unused]] const auto& turn, co_await node_.take_turn(request));
  Pass pass(core, settings_, *host, std::move(request));
  co_return co_await pass.run();
}

void Controller::conclude(const std::string& container_id, const Result<PassOutcome>& passed) {
  const auto found = entries_.find(container_id);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  entry.is_running = false;
  entry.is_quiet = false;
  if (!passed) {
    if (passed.error().code() == Errc::kCancelled) return;
    log_.error(cat("hot-plug: container ", container_id, " cannot be compared with its pod"),
               passed.error());
    fail(entry, std::string(kWhole));
    return enqueue(container_id, retry_of(entry, std::string(kWhole)).due);
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
    return !passed->failing.contains(one.first) && (one.first != kStatus || passed->status);
  });
  const bool differs = entry.failing > 0 || !passed->status;
  if (!differs) entry.differs_since.reset();
  if (differs && !entry.differs_since) entry.differs_since = timer_.now();
  for (const auto& [key, retry] : entry.retries) enqueue(container_id, retry.due);
  // What was not tried for want of credit is tried when there is some.
  if (entry.failing > 0 && entry.credit < 1) enqueue(container_id, when_allowed(entry));
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

// An edit is tried at once, but not of a pod that flaps.
void Controller::forgive(Entry& entry) {
  (void)when_allowed(entry);
  if (entry.credit < 1) return;
  for (auto& [key, retry] : entry.retries) {
    retry.backoff.reset();
    retry.due = timer_.now();
  }
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
  Counts sum;
  for (const auto& [id, entry] : entries_) {
    sum.wanted += entry.wanted;
    sum.present += entry.present;
    sum.failing += entry.failing;
    if (entry.differs_since || entry.is_running) ++sum.pending;
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
