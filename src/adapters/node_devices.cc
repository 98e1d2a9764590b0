#include "adapters/node_devices.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/blocking_pool.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "devices/devices.h"
#include "json/at.h"
#include "json/json.h"
#include "kube/kube.h"
#include "model/objects.h"

namespace mnet::adapters {
namespace {

constexpr std::chrono::seconds kClaimsTime{20};
// Members of a pod that its author may fill without end and that are not used here; containers and
// claims are.
constexpr std::array<std::string_view, 8> kUnusedOfContainers = {
    "annotations", "env", "envFrom", "args", "command", "ports", "volumeMounts", "volumeDevices"};

constexpr auto unused_of_pods() {
  std::array<std::string_view, kube::kUnusedBesideContainers.size() + kUnusedOfContainers.size()>
      out{};
  const auto rest = std::ranges::copy(kube::kUnusedBesideContainers, out.begin()).out;
  std::ranges::copy(kUnusedOfContainers, rest);
  return out;
}
constexpr auto kUnusedOfPods = unused_of_pods();

devices::KubeletSettings with_socket(devices::KubeletSettings settings, const std::string& socket) {
  settings.socket = socket;
  return settings;
}

aio::Task<json::Object> fetch_pod(kube::Api* api, model::PodObjectPtr pod) {
  MNET_CO_TRY(auto&& reply,
              co_await api->call_patiently(
                  {.path = kube::pod_path(pod->ns, pod->name), .share = pod->ns}, kube::Retries()));
  if (!reply.ok()) co_return reply.error();
  co_return json::parse_object_without(kUnusedOfPods, reply.body);
}

void append_names(const json::Value* list, bool only_restartable, std::vector<std::string>& out) {
  const json::Array* containers = json::as_array(list);
  if (containers == nullptr) return;
  for (const json::Value& value : *containers) {
    const json::Object* container = value.as_object();
    if (container == nullptr) continue;
    if (only_restartable && json::text_at(*container, {"restartPolicy"}) != "Always") continue;
    out.push_back(json::text_at(*container, {"name"}));
  }
}

// Containers that hold devices as long as the pod lives, in the kubelet's order: restartable init
// containers, then the others.
std::vector<std::string> containers_of(const json::Object& pod) {
  std::vector<std::string> out;
  append_names(json::find_at(pod, {"spec", "initContainers"}), true, out);
  append_names(json::find_at(pod, {"spec", "containers"}), false, out);
  return out;
}

}  // namespace

NodeDevices::NodeDevices(const aio::asio::any_io_executor& executor, NodeDevicesSettings settings,
                         aio::BlockingPool& pool, kube::Api* api, const Log& log)
    : socket_(devices::pod_resources_socket(settings.kubelet_dir)),
      checkpoint_(devices::checkpoint_file(settings.kubelet_dir)),
      pool_(pool),
      api_(api),
      kubelet_(executor, with_socket(std::move(settings.kubelet), socket_), log) {
  if (api_ == nullptr) return;
  objects_.emplace(*api_, kube::Retries{.total = kClaimsTime});
  slices_.emplace(executor, *objects_, kClaimsTime, log);
}

void NodeDevices::cancel() {
  kubelet_.cancel();
  if (slices_) slices_->cancel();
}

aio::Task<void> NodeDevices::wait_ended(aio::Deadline deadline) {
  MNET_CO_TRY_VOID(co_await kubelet_.wait_ended(deadline));
  if (slices_) co_return co_await slices_->wait_ended(deadline);
  co_return Result<void>();
}

std::string NodeDevices::name() const { return cat("the kubelet (", socket_, ")"); }

aio::Task<devices::Checkpoint> NodeDevices::checkpoint() {
  return pool_.run([path = checkpoint_] { return devices::load_checkpoint(path); });
}

// Where the kubelet has no socket, its file is read: only then, because nothing says how old it is.
aio::Task<devices::DeviceIds> NodeDevices::of_kubelet(model::PodObjectPtr pod, std::string uid) {
  auto listed = co_await kubelet_.devices_of({.ns = pod->ns, .name = pod->name});
  if (listed || !devices::Kubelet::is_absent(listed.error())) co_return listed;
  auto saved = co_await checkpoint();
  if (!saved) {
    co_return Error(saved.error().code(), cat(listed.error().text(), "; ", saved.error().text(),
                                              ": is kubeletDir the kubelet's directory?"));
  }
  if (uid.empty()) uid = pod->uid;
  std::vector<std::string> containers;
  if (api_ != nullptr && devices::needs_order(*saved, uid)) {
    MNET_CO_TRY(auto&& object, co_await fetch_pod(api_, pod));  // stores keep no containers
    containers = containers_of(object);
  }
  co_return devices::devices_of(*saved, uid, std::move(containers));
}

aio::Task<NodeDevices::WithClaims> NodeDevices::with_claims(devices::DeviceIds devices,
                                                            model::PodObjectPtr pod, Log log) {
  if (!objects_ || pod->resource_claims.empty()) {
    co_return WithClaims{.devices = std::move(devices), .unlisted = {}};
  }
  co_return co_await aio::with_deadline(
      read_claims(std::move(devices), std::move(pod), std::move(log)),
      std::chrono::steady_clock::now() + kClaimsTime);
}

// The object that we follow may be older than the claim that was made from a template.
aio::Task<NodeDevices::WithClaims> NodeDevices::read_claims(devices::DeviceIds devices,
                                                            model::PodObjectPtr pod, Log log) {
  MNET_CO_TRY(auto&& claims, devices::parse_pod_claims(pod->resource_claims));
  if (claims.is_unfinished) {
    MNET_CO_TRY(auto&& object, co_await fetch_pod(api_, pod));
    MNET_CO_TRY(auto&& newer, kube::parse_pod(object));
    MNET_CO_TRY(auto&& again, devices::parse_pod_claims(newer.resource_claims));
    claims = std::move(again);
  }
  if (claims.is_empty()) co_return WithClaims{.devices = std::move(devices), .unlisted = {}};
  devices::ClaimedDevices reader(*objects_, *slices_, pod->ns, pod->node_name, std::move(log));
  MNET_CO_TRY(auto&& all, co_await reader.add_to(std::move(devices), std::move(claims)));
  co_return WithClaims{.devices = std::move(all), .unlisted = reader.unlisted()};
}

aio::Task<std::map<std::string, std::vector<std::string>>> NodeDevices::allocated(
    model::PodObjectPtr pod, std::string request_uid, Log log) {
  auto devices = co_await of_kubelet(pod, std::move(request_uid));
  if (!devices) {
    co_return std::move(devices).error().wrap("failed to get resourceMap from ResourceClient");
  }
  auto all = co_await with_claims(*std::move(devices), std::move(pod), std::move(log));
  if (!all) co_return std::move(all).error().wrap("failed to get resourceMap from DRA client");
  co_return std::move(all->devices);
}

// Claims are read once more: a device that no slice listed a moment ago may be listed by now.
aio::Task<bool> NodeDevices::is_device(model::PodObjectPtr pod, std::string resource_name,
                                       Log log) {
  const auto offered = co_await kubelet_.offer();
  if (offered && (*offered)->contains(resource_name)) co_return true;
  const auto saved = co_await checkpoint();
  if (saved && saved->registered.contains(resource_name)) co_return true;
  if (!offered && !saved) co_return offered.error();
  MNET_CO_TRY(auto&& claimed, co_await with_claims({}, std::move(pod), std::move(log)));
  if (claimed.devices.contains(resource_name)) co_return true;
  if (claimed.unlisted.empty()) co_return false;
  co_return Error(Errc::kUnavailable,
                  cat("no resource slice lists ", claimed.unlisted.front(), " now"));
}

}  // namespace mnet::adapters
