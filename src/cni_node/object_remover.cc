#include "cni_node/object_remover.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/error.h"
#include "base/error_list.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni_node/object_server.h"
#include "cni_node/objects.h"
#include "json/at.h"
#include "json/json.h"
#include "kube/discovery.h"
#include "kube/kube.h"

namespace mnet::cni_node {
namespace {

constexpr std::string_view kDelete =
    R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background"})";

// Of the object that was deleted: the answer is the object itself, or a Status about it.
std::string uid_in(const kube::Reply& reply) {
  const auto answer = json::parse_object(reply.body);
  if (!answer) return {};
  std::string uid = json::text_at(*answer, {"metadata", "uid"});
  return uid.empty() ? json::text_at(*answer, {"details", "uid"}) : uid;
}

std::string finalizers_of(const json::Object& object) {
  const json::Value* finalizers = json::find_at(object, {"metadata", "finalizers"});
  return finalizers == nullptr ? "no finalizers" : cat("finalizers ", json::dump(*finalizers));
}

}  // namespace

aio::Task<void> ObjectRemover::remove(std::string about, std::vector<ObjectName> objects) {
  ErrorList failures;
  for (auto object = objects.rbegin(); object != objects.rend(); ++object) {
    auto removed = co_await remove_one(about, std::move(*object));
    failures.add(std::move(removed));
  }
  co_return failures.join("; ");
}

aio::Task<void> ObjectRemover::remove_one(std::string about, ObjectName id) {
  const auto not_found = [this](std::string_view label, const std::string& name) {
    output_.print(cat(label, " ", go_quoted(name), " not found, skipped"));
    return Result<void>();
  };
  MNET_CO_TRY(auto&& found, co_await server_.resolve(id));
  if (!found) {
    const std::string group = kube::parse_api_version(id.api_version).group;
    co_return not_found(cat(to_lower(id.kind), group.empty() ? "" : ".", group), id.name);
  }
  const Target target = *std::move(found);
  if (server_.settings().is_dry) {
    MNET_CO_TRY(auto&& live, co_await server_.call({.path = target.path}));
    if (live.status == 404) co_return not_found(target.resource.label(), id.name);
    ++changes_;
    output_.print(cat(target.label, " would be deleted"));
    co_return Result<void>();
  }
  auto reply = co_await server_.call(
      {.method = "DELETE", .path = target.path, .body = std::string(kDelete)});
  if (!reply) co_return std::move(reply).error().wrap(target.label);
  if (reply->status == 404) co_return not_found(target.resource.label(), id.name);
  if (!reply->ok()) co_return reply->error().wrap(target.label);
  ++changes_;
  MNET_CO_TRY_VOID(co_await wait_gone(about, target, uid_in(*reply)));
  output_.print(cat(target.resource.label(), " ", go_quoted(id.name), " deleted"));
  co_return Result<void>();
}

aio::Task<void> ObjectRemover::wait_gone(std::string about, Target target, std::string uid) {
  ObjectServer::Wait wait{.about = std::move(about), .what = cat(target.label, " to be deleted")};
  while (server_.settings().wait_time.count() > 0) {
    auto reply = co_await server_.call({.path = target.path});
    if (!reply) co_return std::move(reply).error().wrap(target.label);
    if (reply->status == 404 || reply->status == 403) break;  // forbidden: it cannot be seen
    if (!reply->ok()) co_return reply->error().wrap(target.label);
    const auto object = json::parse_object(reply->body);
    const std::string seen = object ? json::text_at(*object, {"metadata", "uid"}) : "";
    if (uid.empty()) uid = seen;
    if (seen != uid) break;
    MNET_CO_TRY(auto&& goes_on, co_await server_.may_look_again(&wait));
    if (!goes_on) {
      co_return Error(
          Errc::kTimeout,
          cat(target.label, ": not deleted in time: ", object ? finalizers_of(*object) : ""));
    }
  }
  co_return Result<void>();
}

}  // namespace mnet::cni_node
