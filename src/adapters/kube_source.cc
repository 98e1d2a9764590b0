#include "adapters/kube_source.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "attach/source.h"
#include "base/dns_name.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "kube/kube.h"
#include "kube/retries.h"
#include "model/objects.h"

namespace mnet::adapters {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// The clock's arithmetic stays sound, whatever a configuration says.
constexpr std::chrono::milliseconds kLongestWait = 24h;

kube::ReflectorSettings pods_of(const KubeSettings& settings) {
  kube::ReflectorSettings out = settings.watch;
  out.path = kube::kPodsPath;
  out.field_selector = "spec.nodeName=" + settings.node_name;
  out.unused = kube::kUnusedMembers;
  return out;
}

kube::ReflectorSettings all_networks(const KubeSettings& settings) {
  kube::ReflectorSettings out = settings.watch;
  out.path = kube::kNetworksPath;
  out.unused = kube::kUnusedMembers;
  return out;
}

}  // namespace

KubeSource::KubeSource(const aio::asio::any_io_executor& executor, std::unique_ptr<kube::Api> api,
                       KubeSettings settings, const Log& log)
    : settings_(std::move(settings)),
      log_(log),
      api_(std::move(api)),
      pod_watch_(*api_, pods_of(settings_), pods_, log),
      network_watch_(*api_, all_networks(settings_), networks_, log),
      definition_reads_(executor, *api_, networks_, network_watch_, settings_.read,
                        *settings_.timer, log),
      status_(*api_, log, settings_.status, settings_.random, *settings_.timer),
      events_(executor, *api_, log) {}

aio::Task<void> KubeSource::follow() {
  std::vector<aio::Task<void>> watches;
  if (follows_pods()) {
    log_.verbatim(LogLevel::kVerbose,
                  cat("Filtering pod watch for node ", go_quoted(settings_.node_name)));
    watches.push_back(pod_watch_.run());
  } else {
    log_.error("MULTUS_NODE_NAME is not set: pods are not cached; each one is read from the API");
  }
  watches.push_back(network_watch_.run());
  auto ended = co_await aio::all(std::move(watches));
  for (auto& watch : ended) {
    if (!watch) co_return std::move(watch).error();
  }
  co_return Result<void>();
}

aio::Task<void> KubeSource::wait_synced(aio::Deadline deadline) {
  if (follows_pods()) {
    MNET_CO_TRY_VOID(co_await pod_watch_.wait_synced(deadline));
  }
  co_return co_await network_watch_.wait_synced(deadline);
}

void KubeSource::report_unsynced() const {
  if (follows_pods() && !pod_watch_.is_synced()) {
    log_.verbatim(LogLevel::kError, "failed to sync pod informer cache");
  }
  if (!network_watch_.is_synced()) {
    log_.verbatim(LogLevel::kError, "failed to sync net-attach-def informer cache");
  }
}

aio::Task<void> KubeSource::flush(aio::Deadline deadline) {
  auto sent = co_await events_.flush(deadline);
  auto read = co_await definition_reads_.wait_ended(deadline);
  co_return sent ? std::move(read) : std::move(sent);
}

void KubeSource::cancel() {
  events_.cancel();
  definition_reads_.cancel();
}

// A copy of the stored pod, if it is the right one: the watch changes the stored one in place, but
// not while a request has it in hands (kube/store.h). A pod that is cut must be read, unless it
// will do.
model::PodObjectPtr KubeSource::stored(const attach::PodLookup& lookup) const {
  if (lookup.newest) return nullptr;
  const model::PodObjectPtr pod = pods_.find(lookup.ns, lookup.name);
  if (pod == nullptr || !pod->fits(lookup.uid)) return nullptr;
  if (pod->is_cut && !lookup.may_be_cut) return nullptr;
  return std::make_shared<const model::PodObject>(*pod);
}

aio::Task<model::PodObjectPtr> KubeSource::wait_stored(attach::PodLookup lookup,
                                                       aio::Deadline deadline) {
  for (;;) {
    if (model::PodObjectPtr pod = stored(lookup)) co_return pod;
    Result<void> waited;
    if (follows_pods()) {
      waited = co_await pods_.wait_changed(deadline);
    } else {
      waited = co_await aio::sleep_until(deadline);
    }
    if (!waited && waited.error().code() != Errc::kTimeout) co_return std::move(waited).error();
    if (!waited || !follows_pods()) co_return stored(lookup);
  }
}

// One live read, repeated while the API is unwell, if the lookup allows it; what the watch brings
// meanwhile counts as well.
aio::Task<model::PodObjectPtr> KubeSource::read_pod(attach::PodLookup lookup) {
  kube::Retries retries = settings_.read;
  if (lookup.once || lookup.newest) retries.most = 1;
  kube::Attempts attempts(retries, settings_.random, Clock::now());
  for (;;) {
    auto reply = co_await api_->call({.path = kube::pod_path(lookup.ns, lookup.name),
                                      .share = lookup.ns,
                                      .time = settings_.read.per_call},
                                     attempts.end());
    const auto pause = attempts.pause_after(reply, Clock::now());
    if (!pause) {
      if (!reply) co_return std::move(reply).error();
      if (reply->status == 404) co_return model::PodObjectPtr();
      if (!reply->ok()) co_return reply->error();
      MNET_CO_TRY(auto&& object, json::parse_object_without(kube::kUnusedMembers, reply->body));
      std::string().swap(reply->body);  // with annotations of 256 KiB there are enough copies
      MNET_CO_TRY(auto&& pod,
                  lookup.may_be_cut ? kube::parse_stored_pod(object, 0) : kube::parse_pod(object));
      co_return std::make_shared<const model::PodObject>(std::move(pod));
    }
    auto found = co_await wait_stored(lookup, Clock::now() + *pause);
    if (!found || *found != nullptr) co_return found;
  }
}

aio::Task<model::PodObjectPtr> KubeSource::find_pod(attach::PodLookup lookup) {
  if (!is_dns_label(lookup.ns) || !is_dns_subdomain(lookup.name)) co_return model::PodObjectPtr();
  const auto began = Clock::now();
  const auto wait = std::min(lookup.wait, kLongestWait);
  if (const model::PodObjectPtr pod = stored(lookup)) co_return pod;

  ++pod_reads_;
  model::PodObjectPtr last;
  // At once, half-way, and at the end (02, 5.2).
  for (int reads = 1;; ++reads) {
    auto read = co_await read_pod(lookup);
    if (!read) co_return std::move(read).error().wrap("error waiting for pod");
    last = *std::move(read);
    if (last != nullptr && last->fits(lookup.uid)) co_return last;
    if (reads == 3 || Clock::now() >= began + wait) break;
    const auto until = reads == 1 ? began + wait / 2 : began + wait;
    MNET_CO_TRY(auto&& found, co_await wait_stored(lookup, until));
    if (found != nullptr) co_return found;
  }
  if (const model::PodObjectPtr pod = stored(lookup)) co_return pod;
  if (last == nullptr) co_return model::PodObjectPtr();
  co_return Error(Errc::kConflict, cat("expected pod UID ", go_quoted(lookup.uid), " but got ",
                                       go_quoted(last->uid), " from Kube API"));
}

aio::Task<std::optional<std::string>> KubeSource::find_status(model::PodObjectPtr pod) {
  co_return co_await status_.find(std::move(pod));
}

}  // namespace mnet::adapters
