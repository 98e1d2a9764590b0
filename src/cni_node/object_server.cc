#include "cni_node/object_server.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "aio/sleep.h"
#include "aio/task.h"
#include "base/backoff.h"
#include "base/text.h"
#include "base/try.h"
#include "cni_node/objects.h"
#include "kube/kube.h"
#include "kube/retries.h"
#include "nodetools/output.h"

namespace mnet::cni_node {
namespace {

constexpr std::chrono::seconds kFirstWord{2};  // until a wait is spoken of

}  // namespace

ObjectServer::ObjectServer(kube::Api& api, WriterSettings settings, nodetools::Output& output)
    : api_(api),
      settings_(std::move(settings)),
      output_(output),
      discovery_(api, settings_.retries) {}

aio::Task<kube::Reply> ObjectServer::call(kube::Call what) {
  return call(std::move(what), settings_.retries);
}

aio::Task<kube::Reply> ObjectServer::call(kube::Call what, kube::Retries retries) {
  return api_.call_patiently(std::move(what), retries);
}

aio::Task<bool> ObjectServer::may_look_again(Wait* wait) {
  const auto waited = std::chrono::steady_clock::now() - wait->began;
  if (waited >= settings_.wait_time) co_return false;
  if (!wait->is_told && waited > kFirstWord) {
    output_.complain(wait->about, cat("waiting for ", wait->what, "..."));
    wait->is_told = true;
  }
  // All nodes may wait for the same thing.
  if (!wait->pauses) {
    wait->pauses.emplace(settings_.poll, settings_.longest_poll, make_random(), kFifth);
  }
  MNET_CO_TRY_VOID(co_await aio::sleep_for(wait->pauses->next()));
  co_return true;
}

aio::Task<std::optional<Target>> ObjectServer::resolve(ObjectName id) {
  MNET_CO_TRY(auto&& found, co_await discovery_.find_kind(id.api_version, id.kind));
  if (!found) co_return std::optional<Target>();
  Target out{.id = std::move(id), .resource = *std::move(found)};
  if (!out.resource.is_namespaced) out.id.ns.clear();
  if (out.resource.is_namespaced && out.id.ns.empty()) out.id.ns = settings_.ns;
  out.path = out.resource.object_path(out.id.ns, out.id.name);
  out.collection = out.resource.collection_path(out.id.ns);
  out.label = cat(out.resource.label(), "/", out.id.name);
  co_return std::optional<Target>(std::move(out));
}

}  // namespace mnet::cni_node
