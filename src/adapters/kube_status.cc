#include "adapters/kube_status.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "aio/sleep.h"
#include "aio/task.h"
#include "attach/source.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "json/json.h"
#include "kube/kube.h"

namespace mnet::adapters {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::string_view kAnnotation = "k8s.v1.cni.cncf.io/network-status";
constexpr int kPutTries = 5;

std::string status_path(const attach::PodObject& pod) {
  return kube::pod_path(pod.ns, pod.name) + "/status";
}

std::string patch_of(const attach::PodObject& pod, std::string text) {
  json::Object metadata;
  // Another pod of that name has another one: the server then refuses.
  if (!pod.uid.empty()) metadata.set("uid", pod.uid);
  metadata.set("annotations", json::Object{{std::string(kAnnotation), std::move(text)}});
  return json::dump(json::Object{{"metadata", std::move(metadata)}});
}

std::string uid_of(const json::Object& object) {
  const json::Value* metadata = object.find("metadata");
  const json::Object* inside = metadata == nullptr ? nullptr : metadata->as_object();
  const json::Value* uid = inside == nullptr ? nullptr : inside->find("uid");
  const std::string* text = uid == nullptr ? nullptr : uid->as_string();
  return text == nullptr ? "" : *text;
}

void set_annotation(json::Object& object, std::string text) {
  json::Object& metadata = *object.find("metadata")->as_object();
  json::Value* annotations = metadata.find("annotations");
  if (annotations == nullptr || annotations->as_object() == nullptr) {
    annotations = &metadata.set("annotations", json::Object());
  }
  annotations->as_object()->set(std::string(kAnnotation), std::move(text));
}

Error replaced(const attach::PodObject& pod, const std::string& uid) {
  return Error(Errc::kConflict,
               cat("pod ", pod.ns, "/", pod.name, " was replaced: expected pod UID ",
                   go_quoted(pod.uid), " but got ", go_quoted(uid), " from Kube API"));
}

}  // namespace

KubeStatus::KubeStatus(kube::Api& api, Log log, Timing timing)
    : api_(api), log_(std::move(log)), timing_(timing) {}

aio::Task<void> KubeStatus::write(attach::PodObjectPtr pod, std::string text) {
  const auto began = Clock::now();
  for (;;) {
    auto written = co_await write_once(pod, text, began + timing_.total);
    const bool is_denied = !written && written.error().code() == Errc::kDenied;
    if (!is_denied || Clock::now() - began >= timing_.denial) co_return written;
    // A server that has just started knows no roles yet and forbids everything.
    auto slept = co_await aio::sleep_for(timing_.pause);
    if (!slept) co_return slept;
  }
}

aio::Task<void> KubeStatus::write_once(attach::PodObjectPtr pod, std::string text,
                                       aio::Deadline end) {
  const bool is_known_to_be_forbidden = Clock::now() < forbidden_until_;
  if (!is_known_to_be_forbidden) {
    auto way = co_await patch(pod, text, end);
    if (!way) co_return std::move(way).error();
    if (*way == Way::kDone) co_return Result<void>();
  }
  auto written = co_await put(std::move(pod), std::move(text), end);
  if (written && !is_known_to_be_forbidden) {
    // Only now it is sure that this is the way, and not that everything is forbidden.
    log_.verbose("patching pods/status is forbidden: pods are read and updated instead");
    forbidden_until_ = Clock::now() + timing_.refusal;
  }
  if (!written && written.error().code() == Errc::kDenied) forbidden_until_ = {};
  co_return written;
}

aio::Task<KubeStatus::Way> KubeStatus::patch(attach::PodObjectPtr pod, std::string text,
                                             aio::Deadline end) {
  for (;;) {
    auto reply = co_await call({.method = "PATCH",
                                .path = status_path(*pod),
                                .body = patch_of(*pod, text),
                                .content_type = "application/merge-patch+json"},
                               end);
    if (!reply) co_return std::move(reply).error();
    if (reply->ok()) co_return Way::kDone;
    if (reply->status == 403) co_return Way::kForbidden;
    if (reply->status == 404) {
      say_gone(*pod);
      co_return Way::kDone;
    }
    if (reply->status != 409 && reply->status != 422) co_return reply->error();
    auto now = co_await read(pod, end);  // an error if it was replaced
    if (!now) co_return std::move(now).error();
    if (!*now) co_return Way::kDone;
    if (reply->status == 422 || Clock::now() >= end) co_return reply->error();
    auto slept = co_await aio::sleep_for(timing_.pause);
    if (!slept) co_return std::move(slept).error();
  }
}

aio::Task<void> KubeStatus::put(attach::PodObjectPtr pod, std::string text, aio::Deadline end) {
  for (int attempt = 1;; ++attempt) {
    auto done = co_await put_once(pod, text, end);
    if (done && *done) co_return Result<void>();
    if (!done && (done.error().code() != Errc::kUnavailable || attempt == kPutTries)) {
      co_return std::move(done).error();
    }
    const auto pause = std::chrono::milliseconds(10 + static_cast<int>(random_() * 10));
    auto slept = co_await aio::sleep_for(pause);
    if (!slept) co_return slept;
  }
}

// True if there is nothing left to do; kUnavailable if somebody else wrote at the same time.
aio::Task<bool> KubeStatus::put_once(attach::PodObjectPtr pod, std::string text,
                                     aio::Deadline end) {
  auto now = co_await read(pod, end);
  if (!now) co_return std::move(now).error();
  if (!*now) co_return true;
  json::Object& object = **now;
  const std::string* present = kube::annotation_of(object, kAnnotation);
  if (present != nullptr && *present == text) co_return true;
  set_annotation(object, std::move(text));
  auto reply = co_await call(
      {.method = "PUT", .path = status_path(*pod), .body = json::dump(std::move(object))}, end);
  if (!reply) co_return std::move(reply).error();
  if (reply->ok()) co_return true;
  if (reply->status == 409) co_return Error(Errc::kUnavailable, reply->error().text());
  if (reply->status == 404) {
    say_gone(*pod);
    co_return true;
  }
  co_return reply->error();
}

// The whole object; none if it is gone. kConflict if it is another pod's.
aio::Task<std::optional<json::Object>> KubeStatus::read(attach::PodObjectPtr pod,
                                                        aio::Deadline end) {
  auto reply = co_await call({.path = kube::pod_path(pod->ns, pod->name)}, end);
  if (!reply) co_return std::move(reply).error();
  if (reply->status == 404) {
    say_gone(*pod);
    co_return std::optional<json::Object>();
  }
  if (!reply->ok()) co_return reply->error();
  auto object = json::parse_object(reply->body);
  const json::Value* metadata = object ? object->find("metadata") : nullptr;
  if (metadata == nullptr || metadata->as_object() == nullptr) {
    co_return Error(Errc::kProtocol, "the answer is no pod");
  }
  const std::string uid = uid_of(*object);
  if (!pod->uid.empty() && uid != pod->uid) co_return replaced(*pod, uid);
  co_return std::optional<json::Object>(*std::move(object));
}

// Again, as long as it may help and there is time.
aio::Task<kube::Reply> KubeStatus::call(kube::Call what, aio::Deadline end) {
  kube::Retries retries{.per_call = timing_.per_call, .first_pause = timing_.pause};
  retries.denial = {};  // here a 403 has a meaning
  retries.total = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
  auto reply = co_await api_.call_patiently(std::move(what), retries);
  if (kube::is_transient(reply) && reply) co_return reply->error();
  co_return reply;
}

aio::Task<std::optional<std::string>> KubeStatus::find(attach::PodObjectPtr pod) {
  auto now = co_await read(pod, Clock::now() + timing_.per_call);
  if (!now && now.error().code() == Errc::kConflict) co_return std::optional<std::string>();
  if (!now) co_return std::move(now).error();
  const std::string* text = *now ? kube::annotation_of(**now, kAnnotation) : nullptr;
  co_return text == nullptr ? std::optional<std::string>() : std::optional<std::string>(*text);
}

void KubeStatus::say_gone(const attach::PodObject& pod) const {
  log_.verbose(cat("pod ", pod.ns, "/", pod.name, " is gone: its network status is not written"));
}

}  // namespace mnet::adapters
