#include "status/writer.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/attach.h"
#include "attach/container_records.h"
#include "attach/core.h"
#include "attach/plan.h"
#include "attach/ports.h"
#include "attach/source.h"
#include "base/error.h"
#include "base/error_list.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/result.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/network_status.h"
#include "model/objects.h"
#include "model/pod_args.h"

namespace mnet::status {
namespace {

constexpr std::chrono::milliseconds kLastTasks{200};
constexpr std::size_t kMaxReason = 300;

std::string key_of(const std::string& ns, const std::string& name, const std::string& uid) {
  return cat(ns, "/", name, "/", uid);
}

// The object's UID; for a static pod the one that its request had, which stays the same when its
// mirror is made anew (02, 5.2).
std::string uid_to_look_for(const model::AttachmentRecord& record) {
  if (!record.is_static) return record.pod_uid;
  return model::read_pod_args_leniently(record.cni_args).pod.uid;
}

bool owes(const model::AttachmentRecord& record) {
  return record.status_owed && record.state == model::RecordState::kReady;
}

// When it was attached, in RFC 3339, which sorts.
std::string age_of(const model::AttachmentRecord& record) {
  return record.attachments.empty() ? std::string() : record.attachments.front().added_at;
}

}  // namespace

Writer::Writer(const aio::asio::any_io_executor& executor, attach::Attachments& attachments,
               Settings settings, Log log)
    : attachments_(attachments),
      settings_(std::move(settings)),
      log_(log),
      backoff_(settings_.first_pause, settings_.longest_pause, settings_.random),
      denied_backoff_(settings_.denied_pause, settings_.denied_pause * 2, settings_.random),
      writes_(executor, std::move(log)) {}

Writer::Writer(const aio::asio::any_io_executor& executor, attach::Attachments& attachments,
               Log log)
    : Writer(executor, attachments, Settings(), std::move(log)) {}

// An older container of the pod may have died without a DEL: its status must not come after the
// newer one's.
void Writer::add(std::string container_id, Owed owed) {
  forget(container_id);
  if (const auto older = of_pods_.find(owed.pod_key); older != of_pods_.end()) {
    forget(std::string(older->second));
  }
  of_pods_[owed.pod_key] = container_id;
  if (text_bytes_ + owed.text.size() > kMostText) owed.text.clear();
  text_bytes_ += owed.text.size();
  owed.number = ++last_number_;
  waiting_.push_back(container_id);
  owed_.emplace(std::move(container_id), std::move(owed));
  change_.set();
}

void Writer::owe(attach::OwedStatus status) {
  // A repeated ADD knows no more than the one before it.
  if (status.text.empty() && owed_.contains(status.container_id)) return;
  Owed owed;
  owed.cni_dir = std::move(status.cni_dir);
  owed.pod_key = key_of(status.pod->ns, status.pod->name, status.pod->uid);
  owed.pod = std::move(status.pod);
  owed.text = std::move(status.text);
  owed.request_id = std::move(status.request_id);
  add(std::move(status.container_id), std::move(owed));
}

void Writer::forget(const std::string& container_id) {
  const auto found = owed_.find(container_id);
  if (found == owed_.end()) return;
  text_bytes_ -= found->second.text.size();
  of_pods_.erase(found->second.pod_key);
  owed_.erase(found);
}

void Writer::forget_pod(const model::PodObject& pod) {
  const auto found = of_pods_.find(key_of(pod.ns, pod.name, pod.uid));
  if (found == of_pods_.end()) return;
  const std::string container_id = found->second;
  forget(container_id);
}

bool Writer::is_owed(const std::string& container_id, std::uint64_t number) const {
  const auto found = owed_.find(container_id);
  return found != owed_.end() && found->second.number == number;
}

aio::Task<void> Writer::run() {
  for (;;) {
    if (pause_) {
      const Time pause = *pause_;
      MNET_CO_TRY_VOID(co_await settings_.timer->sleep_for(pause));
      pause_.reset();
    }
    change_.reset();
    while (!waiting_.empty() && !pause_ && running_ < (is_unwell_ ? 1 : kSideBySide)) {
      std::string next = std::move(waiting_.front());
      waiting_.pop_front();
      if (!owed_.contains(next)) continue;
      ++running_;
      if (!writes_.spawn("network status", write(std::move(next)))) co_return Result<void>();
    }
    if (!pause_) {
      MNET_CO_TRY_VOID(co_await change_.wait());
    }
  }
}

// Text and pod leave the queue: if this attempt fails, the record has what is attached by then.
Writer::Owed Writer::take(const std::string& container_id) {
  Owed& owed = owed_.at(container_id);
  text_bytes_ -= owed.text.size();
  Owed taken = owed;
  owed.pod.reset();
  std::string().swap(owed.text);
  return taken;
}

aio::Task<void> Writer::write(std::string container_id) {
  const Owed owed = take(container_id);
  const auto attempted = co_await attempt(container_id, owed);
  if (!conclude(container_id, owed, attempted)) co_return Result<void>();
  if (!attempted) {
    log_of(owed).error(
        cat("network status: pod ", owed.pod_key, ": giving up writing its network status"),
        attempted.error());
  }
  co_return co_await settle(owed.cni_dir, container_id, log_of(owed));
}

bool Writer::conclude(const std::string& container_id, const Owed& owed,
                      const Result<Attempt>& attempted) {
  --running_;
  const bool is_late =
      attempted ? attempted->has_value() : attempted.error().code() == Errc::kCancelled;
  const bool is_still_owed = is_owed(container_id, owed.number);
  if (attempted && *attempted) postpone(owed, **attempted);
  if (is_still_owed && is_late) waiting_.push_back(container_id);
  if (is_still_owed && !is_late) forget(container_id);
  change_.set();
  ended_.notify_all();
  return is_still_owed && !is_late;
}

aio::Task<Writer::Attempt> Writer::attempt(std::string container_id, Owed owed) {
  Status status{.pod = std::move(owed.pod), .text = std::move(owed.text)};
  if (status.text.empty()) {
    auto read = co_await recorded(owed.cni_dir, container_id);
    if (!read && read.error().code() != Errc::kConflict) {
      co_return attach::StatusDelay{.why = std::move(read).error(),
                                    .advice = "check the API server and the folder of records"};
    }
    if (!read || !*read || !is_owed(container_id, owed.number)) co_return Attempt();
    status = **std::move(read);
  }
  auto tried = co_await core().ports.source->try_status(std::move(status.pod),
                                                        std::move(status.text), log_of(owed));
  if (tried && !*tried) note_success();
  co_return tried;
}

aio::Task<std::optional<Writer::Status>> Writer::recorded(std::string cni_dir,
                                                          std::string container_id) {
  MNET_CO_TRY(auto&& found, co_await attach::find_record(&core().ports.records, std::move(cni_dir),
                                                         std::move(container_id)));
  if (!found || !owes(*found)) co_return std::optional<Status>();
  attach::PodLookup lookup;
  lookup.ns = found->pod_ns;
  lookup.name = found->pod_name;
  lookup.uid = uid_to_look_for(*found);
  lookup.once = true;
  lookup.may_be_cut = true;
  MNET_CO_TRY(auto&& pod, co_await core().ports.source->find_pod(std::move(lookup)));
  if (pod == nullptr) co_return std::optional<Status>();
  MNET_CO_TRY(auto&& text, co_await text_of(*std::move(found)));
  if (text.empty()) co_return std::optional<Status>();
  co_return Status{.pod = std::move(pod), .text = std::move(text)};
}

// The results in the record already lack the default routes that were removed, and include networks
// that were plugged in.
aio::Task<std::string> Writer::text_of(model::AttachmentRecord record) {
  std::vector<model::NetworkStatus> all;
  for (const model::RecordedAttachment& attachment : record.attachments) {
    if (!attachment.result) continue;
    std::optional<json::Object> device_info;
    const std::string path = attach::device_info_file(attachment.capability_args);
    if (!path.empty()) {
      auto found = co_await core().ports.device_infos.find(path);
      if (found) device_info = *std::move(found);
    }
    const bool is_master = attachment.source == model::Source::kCluster;
    auto result = cni::read_result(*attachment.result);
    if (!result) continue;
    auto statuses = model::network_statuses(*result, attachment.network, is_master, device_info);
    if (statuses) std::ranges::move(*statuses, std::back_inserter(all));
  }
  co_return all.empty() ? std::string() : model::status_text(all).text();
}

// Under the container's lock: another request may write the record, too.
aio::Task<void> Writer::settle(std::string cni_dir, std::string container_id, Log log) {
  MNET_CO_TRY([[maybe_unused]] const auto& lock, co_await core().containers.lock(container_id));
  if (owed_.contains(container_id)) co_return Result<void>();  // a later ADD owes another
  auto settled = co_await core().ports.records.settle_status(std::move(cni_dir), container_id);
  if (!settled && settled.error().code() != Errc::kCancelled) {
    log.warning(cat("container ", container_id,
                    ": its network status is written, but its record "
                    "still owes it, and it will be written again: ",
                    settled.error().text()));
  }
  co_return Result<void>();
}

// Logged once for each time that the server is unwell, not for each pod.
void Writer::postpone(const Owed& owed, const attach::StatusDelay& delay) {
  if (pause_) return;  // several were on their way
  if (delay.why.code() == Errc::kCancelled) return;
  const bool is_denied = delay.why.code() == Errc::kDenied && is_unwell_;
  pause_ = (is_denied ? denied_backoff_ : backoff_).next(delay.at_least);
  if (std::exchange(is_unwell_, true)) return;
  log_of(owed).warning(
      cat("network statuses cannot be written, first that of pod ", owed.pod_key, ": ",
          go_quoted(delay.why.text(), kMaxReason),
          "; they stay owed, even when the daemon restarts, and are tried again at growing "
          "intervals; ",
          delay.advice));
}

void Writer::note_success() {
  backoff_.reset();
  denied_backoff_.reset();
  if (!std::exchange(is_unwell_, false)) return;
  log_.verbose(cat("network statuses can be written again; ", owed_.size(), " are owed"));
}

aio::Task<void> Writer::take_up(std::set<std::string> cni_dirs) {
  MNET_CO_TRY_VOID(co_await settings_.timer->sleep_for(
      std::chrono::round<Time>(settings_.spread * settings_.random())));
  Backoff pauses(settings_.first_pause, settings_.longest_pause, settings_.random);
  for (bool is_first = true;; is_first = false) {
    MNET_CO_TRY(const auto& unread, co_await take_up_readable(cni_dirs));
    if (unread.empty()) co_return Result<void>();
    if (is_first) {
      for (const Error& error : unread.errors()) log_.error("statuses of an earlier daemon", error);
    }
    MNET_CO_TRY_VOID(co_await settings_.timer->sleep_for(pauses.next()));
  }
}

// If a pod has several containers only the newest counts, whether it owes a status or not: the
// others died without a DEL.
aio::Task<ErrorList> Writer::take_up_readable(std::set<std::string> cni_dirs) {
  ErrorList unread;
  std::map<std::string, Found> newest;
  for (const std::string& cni_dir : cni_dirs) {
    auto ids = co_await core().ports.records.list(cni_dir);
    if (!ids && ids.error().code() == Errc::kCancelled) co_return std::move(ids).error();
    if (!ids) {
      unread.add(ids.error().wrap(cat("cannot tell which are owed below ", cni_dir)));
      continue;
    }
    for (const std::string& id : *ids) {
      auto found = co_await look_at(cni_dir, id);
      if (!found && found.error().code() == Errc::kCancelled) co_return std::move(found).error();
      if (!found) {
        unread.add(
            found.error().wrap(cat("cannot tell whether that of container ", id, " is owed")));
      } else if (*found) {
        Found& known = newest[(*found)->pod_key];
        if (known.added_at <= (*found)->added_at) known = **std::move(found);
      }
    }
  }
  take_up_newest(std::move(newest));
  co_return std::move(unread);
}

void Writer::take_up_newest(std::map<std::string, Found> newest) {
  for (auto& [pod_key, found] : newest) {
    if (!found.owes || of_pods_.contains(pod_key)) continue;
    Owed owed;
    owed.cni_dir = std::move(found.cni_dir);
    owed.pod_key = pod_key;
    add(std::move(found.container_id), std::move(owed));
  }
}

// None if it has no record.
aio::Task<std::optional<Writer::Found>> Writer::look_at(std::string cni_dir,
                                                        std::string container_id) {
  MNET_CO_TRY(const auto& record,
              co_await attach::find_record(&core().ports.records, cni_dir, container_id));
  if (!record) co_return std::optional<Found>();
  Found found;
  found.cni_dir = std::move(cni_dir);
  found.container_id = std::move(container_id);
  found.pod_key = key_of(record->pod_ns, record->pod_name, record->pod_uid);
  found.added_at = age_of(*record);
  found.owes = owes(*record);
  co_return std::optional<Found>(std::move(found));
}

aio::asio::awaitable<bool> Writer::finish(aio::Deadline deadline) {
  while (!owed_.empty() && !is_unwell_) {
    const auto waited = co_await ended_.wait(deadline);
    if (!waited) break;
  }
  if (!owed_.empty()) log_.verbose(cat(owed_.size(), " network statuses stay owed"));
  writes_.cancel();
  const auto joined = co_await writes_.join(std::chrono::steady_clock::now() + kLastTasks);
  co_return joined.has_value();
}

}  // namespace mnet::status
