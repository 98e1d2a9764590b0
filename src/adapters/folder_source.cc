#include "adapters/folder_source.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/blocking_pool.h"
#include "aio/cancel.h"
#include "aio/group.h"
#include "aio/task.h"
#include "attach/source.h"
#include "base/dns_name.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/count.h"
#include "manifests/events.h"
#include "manifests/manifests.h"
#include "manifests/objects.h"
#include "model/objects.h"

namespace mnet::adapters {
namespace {

using Clock = std::chrono::steady_clock;

// A first reading takes milliseconds; if it takes longer, the disk does not answer.
constexpr auto kFirstReading = std::chrono::seconds(20);
// The clock's arithmetic stays sound, whatever a configuration says.
constexpr std::chrono::milliseconds kLongestWait = std::chrono::hours(24);

manifests::PodRef reference_to(const model::PodObject& pod) {
  return {.ns = pod.ns, .name = pod.name, .uid = pod.uid, .resource_version = pod.resource_version};
}

// A missing UID on either side does not mean another pod.
bool is_another(const model::PodObject& now, const model::PodObject& then) {
  return !now.uid.empty() && !then.uid.empty() && now.uid != then.uid;
}

}  // namespace

FolderSource::FolderSource(const aio::asio::any_io_executor& executor, const std::string& path,
                           aio::BlockingPool& pool, Log log, FolderSettings settings)
    : path_(clean_path(path)),
      settings_(std::move(settings)),
      pool_(pool),
      log_(log),
      folder_(path, pool, log, settings_.timing),
      status_(path, pool, log, settings_.status_dir),
      events_(std::make_shared<manifests::EventFile>(path, log)),
      writers_(executor, std::move(log)) {}

aio::Task<void> FolderSource::follow() {
  aio::Group beside(co_await aio::asio::this_coro::executor, log_);
  beside.spawn("status of pods that are gone", forget_gone_pods());
  if (changes_.pod) beside.spawn("changes of objects", tell_changes());
  auto followed = co_await folder_.follow();
  beside.cancel();
  auto joined = co_await aio::shielded(beside.join());
  co_return followed ? std::move(joined) : std::move(followed);
}

// While a file of the folder cannot be read, the pods in it are unknown, not gone.
aio::Task<void> FolderSource::sweep_statuses() {
  MNET_CO_TRY_VOID(co_await folder_.wait_loaded(aio::kNoDeadline));
  MNET_CO_TRY(const auto& pods, co_await status_.list());
  for (const manifests::PodRef& pod : pods) {
    if (folder_.has_faults() || folder_.snapshot()->find_pod(pod.ns, pod.name) != nullptr) continue;
    MNET_CO_TRY_VOID(co_await status_.remove(pod));
  }
  co_return Result<void>();
}

aio::Task<void> FolderSource::forget_gone_pods() {
  auto seen = folder_.snapshot();
  if (settings_.sweeps) {
    auto swept = co_await sweep_statuses();
    if (!swept && swept.error().code() == Errc::kCancelled) co_return swept;
    if (!swept) log_.error("cannot remove the status of a pod that is gone", swept.error());
  }
  for (;;) {
    MNET_CO_TRY(auto&& now, co_await folder_.wait_newer(seen, aio::kNoDeadline));
    for (const auto& [key, pod] : seen->pods()) {
      const auto still = now->find_pod(pod->ns, pod->name);
      if (still != nullptr && still->uid == pod->uid) continue;
      auto removed = co_await status_.remove({.ns = pod->ns, .name = pod->name, .uid = pod->uid});
      if (!removed) log_.error("cannot remove the status of a pod that is gone", removed.error());
    }
    seen = std::move(now);
  }
}

// Objects of files that were not read again are the same ones.
aio::Task<void> FolderSource::tell_changes() {
  auto seen = folder_.snapshot();
  for (;;) {
    MNET_CO_TRY(auto&& now, co_await folder_.wait_newer(seen, aio::kNoDeadline));
    for (const auto& [key, pod] : now->pods()) {
      const auto before = seen->find_pod(pod->ns, pod->name);
      if (before != pod) changes_.pod(before, pod);
    }
    for (const auto& [key, network] : now->networks()) {
      if (seen->find_network(network->ns, network->name) != network) {
        changes_.network(network->key());
      }
    }
    seen = std::move(now);
  }
}

aio::Task<void> FolderSource::loaded() {
  auto loaded = co_await folder_.wait_loaded(Clock::now() + kFirstReading);
  if (loaded || loaded.error().code() == Errc::kCancelled) co_return loaded;
  co_return Error(Errc::kUnavailable, cat("objects folder ", path_, " could not be read within ",
                                          kFirstReading.count(), " s"));
}

aio::Task<model::PodObjectPtr> FolderSource::find_pod(attach::PodLookup lookup) {
  auto read = co_await loaded();
  if (!read) co_return std::move(read).error().wrap("error waiting for pod");
  // Files that could not be read for a moment are not announced again.
  if (!folder_.snapshot()->unread().empty()) {
    MNET_CO_TRY_VOID(co_await folder_.reread());
  }
  const auto deadline = Clock::now() + std::min(lookup.wait, kLongestWait);
  auto pod = co_await folder_.wait_for_pod(lookup.ns, lookup.name, lookup.uid, deadline);
  if (pod) co_return *std::move(pod);
  if (pod.error().code() == Errc::kNotFound) co_return model::PodObjectPtr();
  if (pod.error().code() != Errc::kConflict) co_return std::move(pod).error();
  const auto other = folder_.snapshot()->find_pod(lookup.ns, lookup.name);
  co_return Error(Errc::kConflict,
                  cat("expected pod UID ", go_quoted(lookup.uid), " but got ",
                      go_quoted(other == nullptr ? "" : other->uid), " from Kube API"));
}

aio::Task<model::NetworkDefinitionPtr> FolderSource::find_network(attach::NetworkLookup lookup) {
  const std::string& ns = lookup.ns;
  const std::string& name = lookup.name;
  // The folder accepts no object of such a name: reading it again would find nothing.
  if (!is_dns_label(ns) || !is_dns_subdomain(name)) co_return model::NetworkDefinitionPtr();
  MNET_CO_TRY_VOID(co_await loaded());
  auto network = folder_.snapshot()->find_network(ns, name);
  if (network == nullptr) {
    auto reread = co_await folder_.reread();
    if (!reread) co_return std::move(reread).error().wrap(cat("reading objects folder ", path_));
    network = folder_.snapshot()->find_network(ns, name);
  }
  if (network == nullptr && !folder_.snapshot()->unread().empty()) {
    co_return Error(Errc::kUnavailable, cat("cannot tell whether network definition ", ns, "/",
                                            name, " exists: ", folder_.snapshot()->unread()));
  }
  co_return network;
}

std::optional<json::Count> FolderSource::count_network(const std::string& ns,
                                                       const std::string& name) const {
  const auto network = folder_.snapshot()->find_network(ns, name);
  if (network == nullptr) return std::nullopt;
  return network->config ? json::count(*network->config) : json::Count();
}

aio::Task<void> FolderSource::write_status(model::PodObjectPtr pod, std::string text, Log log) {
  const auto now = folder_.snapshot()->find_pod(pod->ns, pod->name);
  if (now == nullptr) {
    log.verbose(cat("pod ", pod->ns, "/", pod->name, " is gone from ", path_,
                    ": its network status is not written"));
    co_return Result<void>();
  }
  if (is_another(*now, *pod)) {
    co_return Error(Errc::kConflict,
                    cat("pod ", pod->ns, "/", pod->name, " was replaced: expected pod UID ",
                        go_quoted(pod->uid), " but got ", go_quoted(now->uid)));
  }
  co_return co_await status_.write(reference_to(*pod), std::move(text));
}

aio::Task<std::optional<std::string>> FolderSource::find_status(model::PodObjectPtr pod) {
  co_return co_await status_.find(reference_to(*pod));
}

void FolderSource::send(attach::PodEvent event) {
  if (event.pod == nullptr) return;
  if (waiting_.size() >= kMostWaiting) {
    if (dropped_++ == 0) log_.error(cat("events arrive faster than ", path_, " can store them"));
    return;
  }
  waiting_.push_back({.pod = reference_to(*event.pod),
                      .type = event.is_warning ? "Warning" : "Normal",
                      .reason = std::move(event.reason),
                      .message = attach::event_message(event.message),
                      .request_id = std::move(event.request_id)});
  if (std::exchange(is_writing_, true)) return;
  if (!writers_.spawn("events", write_events())) is_writing_ = false;
}

aio::Task<void> FolderSource::write_events() {
  while (!waiting_.empty()) {
    auto write = [file = events_, batch = std::exchange(waiting_, {})]() -> Result<void> {
      for (const manifests::Event& event : batch) file->append(event);
      file->close();
      return {};
    };
    auto written = co_await pool_.run(std::move(write));
    if (!written) log_.error("cannot write events", written.error());
    if (const std::size_t lost = std::exchange(dropped_, 0); lost > 0) {
      log_.error(cat(lost, " events were dropped"));
    }
  }
  is_writing_ = false;
  co_return Result<void>();
}

aio::Task<void> FolderSource::flush(aio::Deadline deadline) { return writers_.join(deadline); }

}  // namespace mnet::adapters
