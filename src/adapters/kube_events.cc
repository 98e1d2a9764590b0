#include "adapters/kube_events.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "aio/task.h"
#include "attach/source.h"
#include "base/clock.h"
#include "base/dns_name.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "kube/gate.h"
#include "kube/kube.h"
#include "kube/retries.h"

namespace mnet::adapters {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr kube::Retries kPatience{
    .per_call = 5s, .first_pause = 1s, .longest_pause = 10s, .total = 20s};

std::string_view type_of(const attach::PodEvent& event) {
  return event.is_warning ? "Warning" : "Normal";
}

std::string key_of(const attach::PodEvent& event) {
  const model::PodObject& pod = *event.pod;
  return cat(pod.ns, "/", pod.name, "/", pod.uid, "/", type_of(event), "/", event.reason, "/",
             event.message);
}

std::string events_path(const model::PodObject& pod) {
  return cat("/api/v1/namespaces/", pod.ns, "/events");
}

std::string hex(std::uint64_t number) {
  std::string out;
  for (; number != 0; number >>= 4) out += "0123456789abcdef"[number & 15];
  std::ranges::reverse(out);
  return out;
}

json::Object event_object(const attach::PodEvent& event, std::string name, const std::string& now) {
  const model::PodObject& pod = *event.pod;
  json::Object involved{{"kind", "Pod"},
                        {"apiVersion", "v1"},
                        {"namespace", pod.ns},
                        {"name", pod.name},
                        {"uid", pod.uid}};
  if (!pod.resource_version.empty()) involved.set("resourceVersion", pod.resource_version);
  return json::Object{{"kind", "Event"},
                      {"apiVersion", "v1"},
                      {"metadata", json::Object{{"name", std::move(name)}, {"namespace", pod.ns}}},
                      {"involvedObject", std::move(involved)},
                      {"reason", event.reason},
                      {"message", event.message},
                      {"type", type_of(event)},
                      {"source", json::Object{{"component", "multus"}}},
                      {"reportingComponent", "multus"},
                      {"firstTimestamp", now},
                      {"lastTimestamp", now},
                      {"count", 1}};
}

}  // namespace

KubeEvents::KubeEvents(const aio::asio::any_io_executor& executor, kube::Api& api, Log log,
                       const WallClock& clock)
    : api_(api), log_(log), clock_(clock), senders_(executor, std::move(log)) {}

void KubeEvents::send(attach::PodEvent event) {
  if (event.pod == nullptr) return;
  if (waiting_.size() >= kMostWaiting || !may_send(event)) {
    ++dropped_;
    return;
  }
  waiting_.push_back(std::move(event));
  if (std::exchange(is_working_, true)) return;
  if (!senders_.spawn("events", work())) is_working_ = false;
}

bool KubeEvents::may_send(const attach::PodEvent& event) {
  const model::PodObject& pod = *event.pod;
  Bucket& bucket = buckets_.at(cat(pod.ns, "/", pod.name, "/", pod.uid, "/", type_of(event)));
  const auto now = Clock::now();
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

// One after another: a repeat must find the first one on the server.
aio::Task<void> KubeEvents::work() {
  while (!waiting_.empty()) {
    attach::PodEvent event = std::move(waiting_.front());
    waiting_.pop_front();
    auto delivered = co_await deliver(std::move(event));
    if (delivered) continue;
    if (delivered.error().code() == Errc::kCancelled) break;
    ++dropped_;
    log_.verbose(cat("an event could not be sent: ", delivered.error().text()));
  }
  is_working_ = false;
  co_return Result<void>();
}

aio::Task<void> KubeEvents::deliver(attach::PodEvent event) {
  const std::string key = key_of(event);
  const Sent before = sent_.at(key);
  if (!before.name.empty()) {
    MNET_CO_TRY(auto&& counted, co_await count_repeat(event, before));
    if (counted) {
      ++sent_.at(key).count;
      co_return Result<void>();
    }
  }
  std::string name = new_name(event.pod->name);
  MNET_CO_TRY_VOID(co_await post(std::move(event), name));
  sent_.at(key) = Sent{.name = std::move(name), .count = 1};
  co_return Result<void>();
}

// False if the first one is gone.
aio::Task<bool> KubeEvents::count_repeat(attach::PodEvent event, Sent sent) {
  const json::Object change{{"count", static_cast<std::int64_t>(sent.count + 1)},
                            {"lastTimestamp", rfc3339_utc(clock_.now())}};
  MNET_CO_TRY(auto&& reply, co_await api_.call_patiently(
                                {.method = "PATCH",
                                 .path = cat(events_path(*event.pod), "/", sent.name),
                                 .body = json::dump(change),
                                 .content_type = "application/strategic-merge-patch+json",
                                 .priority = kube::Priority::kBackground},
                                kPatience));
  if (reply.status == 404) co_return false;
  if (!reply.ok()) co_return reply.error();
  co_return true;
}

aio::Task<void> KubeEvents::post(attach::PodEvent event, std::string name) {
  const json::Object object = event_object(event, std::move(name), rfc3339_utc(clock_.now()));
  MNET_CO_TRY(auto&& reply, co_await api_.call_patiently({.method = "POST",
                                                          .path = events_path(*event.pod),
                                                          .body = json::dump(object),
                                                          .priority = kube::Priority::kBackground},
                                                         kPatience));
  // 409: an earlier try got through although its answer did not.
  if (!reply.ok() && reply.status != 409) co_return reply.error();
  co_return Result<void>();
}

std::string KubeEvents::new_name(const std::string& pod) {
  const auto since = std::chrono::nanoseconds(clock_.now().time_since_epoch()).count();
  std::string name = cat(pod, ".", hex(static_cast<std::uint64_t>(since)));
  if (is_dns_subdomain(name)) return name;
  std::string uuid;
  for (int i = 0; i < 32; ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) uuid += '-';
    uuid += i == 12 ? '4' : i == 16 ? '8' : "0123456789abcdef"[static_cast<int>(random_() * 15.99)];
  }
  return uuid;
}

}  // namespace mnet::adapters
