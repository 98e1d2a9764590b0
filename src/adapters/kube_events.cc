#include "adapters/kube_events.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "aio/task.h"
#include "attach/source.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "kube/event.h"
#include "kube/gate.h"
#include "kube/kube.h"
#include "kube/retries.h"
#include "model/objects.h"

namespace mnet::adapters {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr kube::Retries kPatience{
    .per_call = 5s, .first_pause = 1s, .longest_pause = 10s, .total = 20s};

}  // namespace

KubeEvents::Waiting KubeEvents::waiting(attach::PodEvent event) {
  const model::PodObject& pod = *event.pod;
  return {.ns = pod.ns,
          .pod = pod.name,
          .uid = pod.uid,
          .resource_version = pod.resource_version,
          .is_warning = event.is_warning,
          .reason = std::move(event.reason),
          .message = attach::event_message(event.message),
          .request_id = std::move(event.request_id)};
}

std::string KubeEvents::key_of(const Waiting& event) {
  return cat(event.ns, "/", event.pod, "/", event.uid, "/", event.type(), "/", event.reason, "/",
             event.message);
}

std::string KubeEvents::events_path(const Waiting& event) {
  return cat("/api/v1/namespaces/", event.ns, "/events");
}

kube::Event KubeEvents::event_of(Waiting event) {
  json::Object involved{{"kind", "Pod"},
                        {"apiVersion", "v1"},
                        {"namespace", event.ns},
                        {"name", std::move(event.pod)},
                        {"uid", std::move(event.uid)}};
  if (!event.resource_version.empty()) involved.set("resourceVersion", event.resource_version);
  return {.ns = std::move(event.ns),
          .involved = std::move(involved),
          .is_warning = event.is_warning,
          .reason = std::move(event.reason),
          .message = std::move(event.message),
          .component = "multus"};
}

KubeEvents::KubeEvents(const aio::asio::any_io_executor& executor, kube::Api& api, Log log,
                       const WallClock& clock)
    : api_(api), log_(log), clock_(clock), senders_(executor, std::move(log)) {}

void KubeEvents::send(attach::PodEvent event) {
  if (event.pod == nullptr) return;
  Waiting next = waiting(std::move(event));
  const auto known = waiting_.find(next.ns);
  const std::size_t of_namespace = known == waiting_.end() ? 0 : known->second.size();
  if (count_ >= kMostWaiting || of_namespace >= kMostOfNamespace || !may_send(next)) {
    ++dropped_;
    return;
  }
  if (known == waiting_.end()) turns_.push_back(next.ns);
  std::string ns = next.ns;
  waiting_[std::move(ns)].push_back(std::move(next));
  ++count_;
  start();
}

void KubeEvents::start() {
  if (turns_.empty() || senders_at_work_ >= kAtOnce) return;
  if (senders_.spawn("events", work())) ++senders_at_work_;
}

bool KubeEvents::may_send(const Waiting& event) {
  const auto now = Clock::now();
  Bucket& bucket =
      buckets_.at(cat(event.ns, "/", event.pod, "/", event.uid, "/", event.type()), now);
  if (!std::exchange(bucket.is_known, true)) {
    bucket.tokens = kBurst;
  } else {
    const std::chrono::duration<double> passed = now - bucket.at;
    const std::chrono::duration<double> refill = kRefill;
    bucket.tokens = std::min<double>(kBurst, bucket.tokens + passed / refill);
  }
  bucket.at = now;
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  return true;
}

// Namespaces take turns, several side by side: one that cannot be written to (it is being deleted,
// or has no quota left) does not hold up the others.
aio::Task<void> KubeEvents::work() {
  Result<void> sent;
  while (sent && !turns_.empty()) {
    std::string ns = std::move(turns_.front());
    turns_.pop_front();
    sent = co_await send_next(std::move(ns));
  }
  --senders_at_work_;
  co_return sent;
}

// Events of one namespace go one after another: a repeat must find the first one on the server.
aio::Task<void> KubeEvents::send_next(std::string ns) {
  const auto queue = waiting_.find(ns);
  Waiting event = std::move(queue->second.front());
  queue->second.pop_front();
  --count_;
  const std::string what = cat("event ", event.reason, " of pod ", ns, "/", event.pod);
  const Log log = log_.with_request(event.request_id);
  auto delivered = co_await deliver(std::move(event));
  if (queue->second.empty()) {
    waiting_.erase(queue);
  } else {
    turns_.push_back(std::move(ns));
  }
  if (delivered || delivered.error().code() == Errc::kCancelled) co_return delivered;
  ++dropped_;
  log.verbose(cat(what, " could not be sent: ", delivered.error().text()));
  co_return Result<void>();
}

aio::Task<void> KubeEvents::deliver(Waiting event) {
  const std::string key = key_of(event);
  const Sent before = sent_.at(key, Clock::now());
  if (before.count > 0) {
    MNET_CO_TRY(auto&& counted, co_await count_repeat(event, before));
    if (counted) {
      ++sent_.at(key, Clock::now()).count;
      co_return Result<void>();
    }
  }
  const auto first = clock_.now();
  MNET_CO_TRY_VOID(co_await post(std::move(event), first));
  sent_.at(key, Clock::now()) = Sent{.first = first, .count = 1};
  co_return Result<void>();
}

// False if the first one is gone.
aio::Task<bool> KubeEvents::count_repeat(Waiting event, Sent sent) {
  const json::Object change{{"count", static_cast<std::int64_t>(sent.count + 1)},
                            {"lastTimestamp", rfc3339_utc(clock_.now())}};
  MNET_CO_TRY(auto&& reply,
              co_await api_.call_patiently(
                  {.method = "PATCH",
                   .path = cat(events_path(event), "/", kube::event_name(event.pod, sent.first)),
                   .body = json::dump(change),
                   .content_type = "application/strategic-merge-patch+json",
                   .priority = kube::Priority::kBackground},
                  kPatience));
  if (reply.status == 404) co_return false;
  if (!reply.ok()) co_return reply.error();
  co_return true;
}

aio::Task<void> KubeEvents::post(Waiting event, std::chrono::system_clock::time_point now) {
  std::string path = events_path(event), name = kube::event_name(event.pod, now);
  const json::Object object = kube::event_object(event_of(std::move(event)), std::move(name), now);
  MNET_CO_TRY(auto&& reply, co_await api_.call_patiently({.method = "POST",
                                                          .path = std::move(path),
                                                          .body = json::dump(object),
                                                          .priority = kube::Priority::kBackground},
                                                         kPatience));
  // 409: an earlier try got through although its answer did not.
  if (!reply.ok() && reply.status != 409) co_return reply.error();
  co_return Result<void>();
}

}  // namespace mnet::adapters
