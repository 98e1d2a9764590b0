#include "cni_node/owner.h"

#include <string>

#include "aio/task.h"
#include "aio/timer.h"
#include "base/backoff.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/at.h"
#include "json/json.h"
#include "kube/kube.h"

namespace mnet::cni_node {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 10s;  // with a server that forbids
constexpr auto kPause = 1s;
constexpr auto kPerCall = 5s;

}  // namespace

Owner::Owner(kube::Api& api, const std::string& ns, const std::string& name, aio::Timer& timer)
    : api_(api),
      path_(cat("/apis/apps/v1/namespaces/", kube::query_value(ns), "/daemonsets/",
                kube::query_value(name))),
      label_(cat("DaemonSet ", ns, "/", name)),
      timer_(timer) {}

aio::Task<void> Owner::learn() {
  Backoff backoff(1s, 60s, make_random(), kFifth);
  for (;;) {
    auto reply = co_await api_.call({.path = path_, .time = kPerCall}, timer_.now() + kPerCall);
    const auto object =
        reply && reply->ok() ? json::parse_object(reply->body) : Result<json::Object>();
    if (object) uid_ = json::text_at(*object, {"metadata", "uid"});
    if (!uid_.empty()) co_return Result<void>();
    MNET_CO_TRY_VOID(co_await timer_.sleep_for(backoff.next()));
  }
}

Owner::Verdict Owner::verdict_on(const kube::Reply& reply) const {
  if (reply.status == 404) return {Fate::kGone, cat(label_, " does not exist any more")};
  const bool is_denied = reply.status == 401 || reply.status == 403;
  if (is_denied && !uid_.empty())
    return {Fate::kForbidden, cat("reading ", label_, " is forbidden now")};
  const auto object = reply.ok() ? json::parse_object(reply.body) : Result<json::Object>();
  if (!object) return {Fate::kStays, cat(label_, " cannot be read: ", reply.error().text())};
  if (!json::text_at(*object, {"metadata", "deletionTimestamp"}).empty()) {
    return {Fate::kGone, cat(label_, " is being deleted")};
  }
  if (!uid_.empty() && json::text_at(*object, {"metadata", "uid"}) != uid_) {
    return {Fate::kGone, cat(label_, " is another one now")};
  }
  return {Fate::kStays, cat(label_, " exists")};
}

aio::Task<Owner::Verdict> Owner::judge() {
  const auto end = timer_.now() + kPatience;
  for (;;) {
    auto reply = co_await api_.call({.path = path_, .time = kPerCall}, timer_.now() + kPerCall);
    if (!reply) {
      co_return Verdict{Fate::kStays, cat(label_, " cannot be read: ", reply.error().text())};
    }
    Verdict verdict = verdict_on(*reply);
    if (verdict.fate != Fate::kForbidden || timer_.now() >= end) co_return verdict;
    MNET_CO_TRY_VOID(co_await timer_.sleep_for(kPause));
  }
}

}  // namespace mnet::cni_node
