#include "adapters/kube_status.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "aio/task.h"
#include "aio/timer.h"
#include "attach/source.h"
#include "base/backoff.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/at.h"
#include "json/json.h"
#include "kube/gate.h"
#include "kube/kube.h"
#include "kube/retries.h"
#include "model/objects.h"
#include "model/requested_networks.h"

namespace mnet::adapters {
namespace {

constexpr int kPutTries = 5;
// Enough for what a server says about a right that is missing.
constexpr std::size_t kMaxReason = 300;
// An object of more bytes becomes megabytes of values.
constexpr std::size_t kLarge = 64u << 10;
constexpr std::string_view kLargeOnes = "large";  // a key that no pod has

std::string status_path(const model::PodObject& pod) {
  return kube::pod_path(pod.ns, pod.name) + "/status";
}

// With a version: only if nothing was written since.
std::string patch_of(const model::PodObject& pod, std::string text,
                     const std::string& resource_version = {}) {
  json::Object metadata;
  if (!resource_version.empty()) metadata.set("resourceVersion", resource_version);
  // The name may belong to another pod by now, with another UID: the server then refuses.
  if (!pod.uid.empty()) metadata.set("uid", pod.uid);
  metadata.set("annotations",
               json::Object{{std::string(model::kNetworkStatusAnnotation), std::move(text)}});
  return json::dump(json::Object{{"metadata", std::move(metadata)}});
}

void set_annotation(json::Object& object, std::string text) {
  json::Object& metadata = *object.find("metadata")->as_object();
  json::Value* annotations = metadata.find("annotations");
  if (annotations == nullptr || annotations->as_object() == nullptr) {
    annotations = &metadata.set("annotations", json::Object());
  }
  annotations->as_object()->set(std::string(model::kNetworkStatusAnnotation), std::move(text));
}

Error replaced(const model::PodObject& pod, const std::string& uid) {
  return Error(Errc::kConflict,
               cat("pod ", pod.ns, "/", pod.name, " was replaced: expected pod UID ",
                   go_quoted(pod.uid), " but got ", go_quoted(uid), " from Kube API"));
}

// The object that a GET has brought; none if it is gone, kConflict if it is another pod's.
// `unused`: members that are left out, because authors of pods choose their size.
Result<std::optional<json::Object>> pod_in(const kube::Reply& reply, const model::PodObject& pod,
                                           std::span<const std::string_view> unused = {}) {
  if (reply.status == 404) return std::optional<json::Object>();
  if (!reply.ok()) return reply.error();
  MNET_TRY(auto&& object, json::parse_object_without(unused, reply.body));
  const json::Value* metadata = object.find("metadata");
  if (metadata == nullptr || metadata->as_object() == nullptr) {
    return Error(Errc::kProtocol, "the answer is not a pod");
  }
  const std::string uid = json::text_at(object, {"metadata", "uid"});
  if (!pod.uid.empty() && uid != pod.uid) return replaced(pod, uid);
  return std::optional<json::Object>(std::move(object));
}

// A pod that its author made so large that not even an annotation fits: the server answers 500, as
// if it were unwell, every time.
bool is_too_large(const kube::Reply& reply) {
  return reply.status == 413 ||
         (reply.status == 500 && reply.body.contains("request is too large"));
}

std::string name_of(const model::PodObject& pod) { return cat("pod ", pod.ns, "/", pod.name); }

// What the operator should do about it; `status` is of HTTP, 0: there was no answer.
std::string_view advice_on(int status) {
  if (status == 403) {
    return "give the account of this daemon the right to patch pods/status "
           "(deploy/common/role.yaml)";
  }
  if (status == 401) return "check this daemon's credentials: the API server refuses them";
  return "if this lasts, check the API server and the network path to it";
}

}  // namespace

// One status on its way.
struct KubeStatus::Job {
  model::PodObjectPtr pod;
  std::string text;
  attach::StatusEdit edit = {};  // makes the text of what is there
  std::chrono::steady_clock::time_point began, end;
  Backoff backoff;
  Log log;  // of the request that waits
  kube::Priority priority = kube::Priority::kUrgent;
  int attempts = 0;
  int status = 0;                                     // of the last answer; 0: none came
  std::optional<std::chrono::seconds> at_least = {};  // as the last answer asked for
  // Since when every answer has been 403: one that follows an outage may come from a server that
  // has just started.
  std::optional<std::chrono::steady_clock::time_point> denied_since = {};
  bool is_failure_told = false, is_denial_told = false;
  bool is_gone = false;  // the pod
};

KubeStatus::KubeStatus(kube::Api& api, Log log, Timing timing, Random random, aio::Timer& timer)
    : api_(api),
      log_(std::move(log)),
      timing_(timing),
      random_(std::move(random)),
      timer_(timer),
      denials_(timing_.first_pause, timing_.longest_pause, random_) {}

KubeStatus::Job KubeStatus::make_job(model::PodObjectPtr pod, std::string text, Time total) const {
  const auto now = timer_.now();
  return Job{.pod = std::move(pod),
             .text = std::move(text),
             .began = now,
             .end = now + total,
             .backoff = Backoff(timing_.first_pause, timing_.longest_pause, random_),
             .log = log_};
}

aio::Task<void> KubeStatus::write(model::PodObjectPtr pod, std::string text, Log log) {
  const Time total = model::may_ask_for_networks(*pod) ? timing_.total : timing_.total_of_plain;
  Job job = make_job(std::move(pod), std::move(text), total);
  job.log = std::move(log);
  return work(std::move(job));
}

aio::Task<void> KubeStatus::edit(model::PodObjectPtr pod, attach::StatusEdit edit) {
  Job job = make_job(std::move(pod), {}, timing_.total);
  job.edit = std::move(edit);
  job.priority = kube::Priority::kBackground;  // hot-plug's: no pod waits for it
  return work(std::move(job));
}

aio::Task<void> KubeStatus::work(Job job) {
  for (;;) {
    ++job.attempts;
    auto written = co_await write_once(&job);
    if (written) {
      if (job.attempts > 1 && !job.is_gone) {
        job.log.verbose(
            cat(name_of(*job.pod), ": network status written at attempt ", job.attempts));
      }
      co_return written;
    }
    const auto wait = pause_after(job, written.error());
    if (!wait) co_return conclude(job, std::move(written));
    tell(job, written.error());
    MNET_CO_TRY_VOID(co_await timer_.sleep_for(*wait));
  }
}

// A pod that asks for no networks does not fail because the API is away (06, pain 29).
Result<void> KubeStatus::conclude(const Job& job, Result<void> failed) const {
  if (job.edit || model::may_ask_for_networks(*job.pod) || !may_pass(job, failed.error()))
    return failed;
  job.log.warning(cat(name_of(*job.pod), " stays without its network status: ",
                      go_quoted(failed.error().text(), kMaxReason), "; ", advice_on(job.status)));
  return {};
}

aio::Task<std::optional<attach::StatusDelay>> KubeStatus::attempt(model::PodObjectPtr pod,
                                                                  std::string text, Log log) {
  Job job = make_job(std::move(pod), std::move(text), timing_.total);
  job.log = std::move(log);
  job.priority = kube::Priority::kBackground;
  auto written = co_await write_once(&job);
  if (written) co_return std::optional<attach::StatusDelay>();
  if (!may_pass(job, written.error())) co_return std::move(written).error();
  co_return attach::StatusDelay{
      .why = std::move(written).error(), .at_least = job.at_least, .advice = advice_on(job.status)};
}

// A pod that was replaced, and a status that the server finds invalid, stay so. A right may be
// given to us at any time: soon by a server that has just started, knows no roles yet and forbids
// everything; late by an operator.
bool KubeStatus::may_pass(const Job& job, const Error& why) {
  if (why.code() == Errc::kDenied) return true;
  const bool has_answered = job.status != 0 && job.status / 100 != 2;
  return has_answered ? why.code() == Errc::kUnavailable : kube::is_transient_error(why);
}

std::optional<KubeStatus::Time> KubeStatus::pause_after(Job& job, const Error& why) {
  if (!may_pass(job, why)) return std::nullopt;
  const bool is_denied = why.code() == Errc::kDenied;
  const auto now = timer_.now();
  if (!is_denied) job.denied_since.reset();
  if (is_denied && !job.denied_since) job.denied_since = now;
  if (is_denied && now - *job.denied_since >= timing_.denial) return std::nullopt;

  Time wait = job.backoff.next(job.at_least);
  // All pods share our account: what is forbidden for one is forbidden for all.
  if (is_denied) wait = std::max(wait, denials_.next());
  if (now + wait >= job.end) return std::nullopt;
  return wait;
}

// Logged once for each pod, and a second time if it turns out that a right is missing.
void KubeStatus::tell(Job& job, const Error& why) const {
  const bool is_denied = why.code() == Errc::kDenied;
  if (std::exchange(is_denied ? job.is_denial_told : job.is_failure_told, true)) return;
  const auto denied_end = job.denied_since.value_or(job.began) + timing_.denial;
  const auto end = is_denied ? std::min(denied_end, job.end) : job.end;
  const auto left = std::chrono::round<std::chrono::seconds>(end - timer_.now());
  job.log.warning(cat(name_of(*job.pod), ": its network status cannot be written: ",
                      go_quoted(why.text(), kMaxReason), "; retrying for ", left.count(),
                      " s at growing intervals; ", advice_on(job.status)));
}

aio::Task<void> KubeStatus::write_once(Job* job) {
  MNET_CO_TRY([[maybe_unused]] const auto& turn,
              co_await turns_.lock(cat(job->pod->key(), "/", job->pod->uid)));
  auto written = co_await write_in_turn(job);
  if (written) denials_.reset();
  co_return written;
}

aio::Task<void> KubeStatus::write_in_turn(Job* job) {
  if (job->edit) {
    co_return co_await repeat(job, &KubeStatus::edit_once);
  }
  const bool is_known_to_be_forbidden = timer_.now() < forbidden_until_;
  if (!is_known_to_be_forbidden) {
    MNET_CO_TRY(auto&& way, co_await patch(job));
    if (way == Way::kDone) co_return Result<void>();
  }
  auto written = co_await repeat(job, &KubeStatus::put_once);
  // Only now is it sure that this way works, and that not everything is forbidden, as a server that
  // has just started says for a moment.
  if (written && !is_known_to_be_forbidden && !job->denied_since) {
    job->log.verbose("patching pods/status is forbidden: pods are read and updated instead");
    forbidden_until_ = timer_.now() + timing_.refusal;
  }
  if (!written && written.error().code() == Errc::kDenied) forbidden_until_ = {};
  co_return written;
}

aio::Task<KubeStatus::Way> KubeStatus::patch(Job* job) {
  MNET_CO_TRY(auto&& reply, co_await call(job, {.method = "PATCH",
                                                .path = status_path(*job->pod),
                                                .body = patch_of(*job->pod, job->text),
                                                .content_type = "application/merge-patch+json"}));
  if (reply.ok()) co_return Way::kDone;
  if (reply.status == 403) co_return Way::kForbidden;
  if (reply.status == 404) {
    say_gone(*job);
    co_return Way::kDone;
  }
  if (reply.status != 409 && reply.status != 422) co_return reply.error();
  MNET_CO_TRY(const auto& still_there, co_await read(job));  // an error if it was replaced
  if (!still_there) co_return Way::kDone;
  if (reply.status == 422) co_return reply.error();
  co_return Error(Errc::kUnavailable, reply.error().text());  // others write, too
}

aio::Task<void> KubeStatus::repeat(Job* job, Step step) {
  for (int attempt = 1;; ++attempt) {
    MNET_CO_TRY(auto&& done, co_await (this->*step)(job));
    if (done) co_return Result<void>();
    if (attempt == kPutTries)
      co_return Error(Errc::kUnavailable, "other clients keep changing the pod");
    MNET_CO_TRY_VOID(co_await timer_.sleep_for(Time(10 + static_cast<int>(random_() * 10))));
  }
}

// True if there is nothing left to do; false if another client wrote at the same time. The object
// keeps the resourceVersion that was read: if another client wrote since, it is refused.
aio::Task<bool> KubeStatus::put_once(Job* job) {
  MNET_CO_TRY(auto&& whole, co_await read_whole(job));
  if (!whole.object) co_return true;
  const std::string* present = kube::annotation_of(*whole.object, model::kNetworkStatusAnnotation);
  if (job->edit) {
    MNET_CO_TRY(auto&& text, edited(*job, present));
    if (!text) co_return true;
    job->text = *std::move(text);
  } else if (present != nullptr && *present == job->text) {
    co_return true;
  }
  set_annotation(*whole.object, job->text);
  MNET_CO_TRY(auto&& reply, co_await call(job, {.method = "PUT",
                                                .path = status_path(*job->pod),
                                                .body = json::dump(*whole.object)}));
  if (reply.ok()) co_return true;
  if (reply.status == 409) co_return false;
  if (reply.status == 404) {
    say_gone(*job);
    co_return true;
  }
  co_return reply.error();
}

Result<std::optional<std::string>> KubeStatus::edited(const Job& job, const std::string* present) {
  return job.edit(present == nullptr ? std::optional<std::string>()
                                     : std::optional<std::string>(*present));
}

// As put_once(), from what is there now.
aio::Task<bool> KubeStatus::edit_once(Job* job) {
  MNET_CO_TRY(auto&& now, co_await read(job));
  if (!now) co_return true;
  MNET_CO_TRY(auto&& text,
              edited(*job, kube::annotation_of(*now, model::kNetworkStatusAnnotation)));
  if (!text) co_return true;
  job->text = *std::move(text);
  kube::Call patch{.method = "PATCH",
                   .path = status_path(*job->pod),
                   .body = patch_of(*job->pod, job->text, kube::resource_version_of(*now)),
                   .content_type = "application/merge-patch+json"};
  MNET_CO_TRY(auto&& reply, co_await call(job, std::move(patch)));
  if (reply.status == 403) {
    co_return co_await put_once(job);
  }
  if (reply.ok()) co_return true;
  if (reply.status == 409) co_return false;
  if (reply.status != 404) co_return reply.error();
  say_gone(*job);
  co_return true;
}

// What an edit of the annotation needs; none if the pod is gone. kConflict if another pod has its
// name now.
aio::Task<std::optional<json::Object>> KubeStatus::read(Job* job) {
  MNET_CO_TRY(auto&& reply, co_await fetch(job));
  auto now = pod_in(reply, *job->pod, kube::kUnusedMembers);
  if (now && !*now) say_gone(*job);
  co_return now;
}

// Large ones go one at a time: their authors chose how large they are.
aio::Task<KubeStatus::Whole> KubeStatus::read_whole(Job* job) {
  Whole whole;
  MNET_CO_TRY(auto&& reply, co_await fetch(job));
  if (reply.body.size() > kLarge) {
    std::string().swap(reply.body);
    MNET_CO_TRY(whole.turn, co_await turns_.lock(std::string(kLargeOnes)));
    MNET_CO_TRY(reply, co_await fetch(job));
  }
  MNET_CO_TRY(whole.object, pod_in(reply, *job->pod));
  if (!whole.object) say_gone(*job);
  co_return whole;
}

aio::Task<kube::Reply> KubeStatus::fetch(Job* job) {
  return call(job, {.path = kube::pod_path(job->pod->ns, job->pod->name)});
}

// Tried once: an error that may pass is returned, and the whole attempt is made again.
aio::Task<kube::Reply> KubeStatus::call(Job* job, kube::Call what) {
  what.priority = job->priority;
  what.share = job->pod->ns;
  what.time = timing_.per_call;
  auto reply = co_await api_.call(std::move(what), job->end);
  job->status = reply ? reply->status : 0;
  job->at_least.reset();
  if (reply) job->at_least = reply->retry_after;
  if (reply && is_too_large(*reply)) co_return Error(Errc::kInvalid, reply->error().text());
  if (reply && kube::is_transient_status(reply->status)) co_return reply->error();
  co_return reply;
}

aio::Task<std::optional<std::string>> KubeStatus::find(model::PodObjectPtr pod) {
  const kube::Retries retries{.per_call = timing_.per_call,
                              .first_pause = timing_.first_pause,
                              .total = timing_.per_call,
                              .denial = Time(0)};
  MNET_CO_TRY(auto&& reply,
              co_await api_.call_patiently(
                  {.path = kube::pod_path(pod->ns, pod->name), .share = pod->ns}, retries));
  auto now = pod_in(reply, *pod, kube::kUnusedMembers);
  if (!now && now.error().code() == Errc::kConflict) co_return std::optional<std::string>();
  if (!now) co_return std::move(now).error();
  const std::string* text =
      *now ? kube::annotation_of(**now, model::kNetworkStatusAnnotation) : nullptr;
  co_return text == nullptr ? std::optional<std::string>() : std::optional<std::string>(*text);
}

void KubeStatus::say_gone(Job& job) const {
  job.is_gone = true;
  job.log.verbose(cat(name_of(*job.pod), " is gone: its network status is not written"));
}

}  // namespace mnet::adapters
