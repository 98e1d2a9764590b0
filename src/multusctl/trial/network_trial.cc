#include "multusctl/trial/network_trial.h"

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/random_number.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/at.h"
#include "json/json.h"
#include "kube/exec.h"
#include "model/requested_networks.h"
#include "multusctl/cluster.h"
#include "multusctl/daemons.h"
#include "multusctl/node_status.h"
#include "multusctl/pod_networks.h"
#include "multusctl/trial/reachability.h"

namespace mnet::multusctl {
namespace {

using namespace std::chrono_literals;

constexpr Resource kEvents{"", "v1", "events"};
constexpr std::string_view kLabel = "multusctl-test";
constexpr std::string_view kSelector = "labelSelector=app%3Dmultusctl-test";
constexpr auto kBetweenLooks = 500ms;
constexpr auto kGoneWithin = 60s;
// A node that does not take its pods down within this time is away: they are removed without it.
constexpr auto kTakenDownWithin = 40s;
constexpr int kLifetime = 600;  // seconds; then a pod that was forgotten ends by itself

std::string last_warning(const json::Array& events, const std::string& pod) {
  std::string said;
  for (const json::Value& value : events) {
    const json::Object* event = value.as_object();
    if (event == nullptr || json::text_at(*event, {"involvedObject", "name"}) != pod) continue;
    said = cat(excerpt(json::text_at(*event, {"reason"})), ": ",
               excerpt(json::text_at(*event, {"message"}), 500));
  }
  return said;
}

std::string without_prefix(const std::string& address) {
  return address.substr(0, address.find('/'));
}

}  // namespace

NetworkTrial::NetworkTrial(Cluster& cluster, NetworkTrialPlan plan, Tell tell)
    : cluster_(cluster), plan_(std::move(plan)), tell_(std::move(tell)) {
  const std::string run = cat(random_number() % 1'000'000);
  for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
    for (const char* which : {"a", "b"}) {
      stations_.push_back({.pod = cat(kLabel, "-", run, "-", i, which), .node = plan_.nodes[i]});
    }
  }
}

aio::Task<Verdicts> NetworkTrial::run() {
  tell_("deleting what an earlier test left behind");
  MNET_CO_TRY_VOID(co_await clean_up());
  tell_(cat("creating ", stations_.size(), " pods"));
  MNET_CO_TRY_VOID(co_await make_pods());
  tell_("waiting for the pods");
  MNET_CO_TRY_VOID(co_await wait_running());
  tell_("sending packets");
  std::vector<aio::Task<json::Object>> probes;
  probes.reserve(stations_.size());
  for (const Station& station : stations_) probes.push_back(probe(station));
  auto ended = co_await aio::all(std::move(probes));
  std::vector<json::Object> answers;
  for (std::size_t i = 0; i < ended.size(); ++i) {
    if (!ended[i] && ended[i].error().code() == Errc::kCancelled) co_return ended[i].error();
    if (!ended[i]) {
      stations_[i].why_not = cat("it could not send: ", excerpt(ended[i].error().text(), 500));
    }
    answers.push_back(ended[i] ? *std::move(ended[i]) : json::Object());
  }
  co_return judge(stations_, answers);
}

json::Object NetworkTrial::pod_of(const Station& station) const {
  json::Object annotations;
  if (plan_.network) annotations.set(std::string(model::kNetworksAnnotation), plan_.network->key());
  json::Object container{
      {"name", "probe"},
      {"image", plan_.image},
      {"imagePullPolicy", "IfNotPresent"},
      {"command", json::Array{std::string(kInPod), "probe"}},
      {"resources", json::Object{{"requests", json::Object{{"cpu", "10m"}, {"memory", "16Mi"}}},
                                 {"limits", json::Object{{"memory", "64Mi"}}}}}};
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", json::Object{{"name", station.pod},
                                    {"labels", json::Object{{"app", kLabel}}},
                                    {"annotations", std::move(annotations)}}},
          {"spec", json::Object{{"nodeName", station.node},
                                {"restartPolicy", "Never"},
                                {"activeDeadlineSeconds", kLifetime},
                                {"terminationGracePeriodSeconds", 1},
                                {"automountServiceAccountToken", false},
                                {"enableServiceLinks", false},
                                {"tolerations", json::Array{json::Object{{"operator", "Exists"}}}},
                                {"containers", json::Array{std::move(container)}}}}};
}

aio::Task<void> NetworkTrial::make_pods() {
  for (const Station& station : stations_) {
    MNET_CO_TRY([[maybe_unused]] const auto& made,
                co_await cluster_.create(kPods, pod_of(station), plan_.ns));
  }
  co_return Result<void>();
}

aio::Task<void> NetworkTrial::wait_running() {
  const auto end = std::chrono::steady_clock::now() + plan_.timeout;
  for (Station& station : stations_) {
    for (;;) {
      MNET_CO_TRY(const bool is_settled, co_await look_at(&station));
      if (is_settled || std::chrono::steady_clock::now() >= end) break;
      MNET_CO_TRY_VOID(co_await aio::sleep_for(kBetweenLooks));
    }
  }
  co_return co_await explain_absent();
}

// True when it runs and its addresses are known, or it never will.
aio::Task<bool> NetworkTrial::look_at(Station* station) {
  auto pod = co_await cluster_.get(kPods, plan_.ns, station->pod);
  if (!pod && pod.error().code() == Errc::kNotFound) {
    station->why_not = "the pod was deleted in the meantime";
    co_return true;
  }
  if (!pod) co_return pod.error();
  const std::string phase = json::text_at(*pod, {"status", "phase"});
  if (phase != "Running") co_return phase == "Failed" || phase == "Succeeded";
  const DefinitionNames known =
      plan_.network ? DefinitionNames{plan_.network->key()} : DefinitionNames();
  for (const NetworkRow& row : rows_of(*pod, known).networks) {
    const bool is_asked =
        plan_.network ? row.network == plan_.network->key() : row.interface == "eth0";
    if (!is_asked) continue;
    seen_[station->pod] = row.why;
    if (row.ips.empty()) continue;
    station->interface = row.interface;
    for (const std::string& ip : row.ips) station->addresses.push_back(without_prefix(ip));
    co_return true;
  }
  co_return false;
}

// Of the nodes whose daemon does not answer or is not ready: why.
aio::Task<std::map<std::string, std::string>> NetworkTrial::find_away(
    std::vector<std::string> nodes) {
  std::map<std::string, std::string> away;
  auto daemons = co_await find_daemons(&cluster_, plan_.daemon_ns, std::move(nodes));
  if (!daemons && daemons.error().code() == Errc::kCancelled) co_return daemons.error();
  if (!daemons) co_return away;
  MNET_CO_TRY(const auto& statuses, co_await ask_daemons(&cluster_, *std::move(daemons), false));
  for (const NodeStatus& status : statuses) {
    if (status.status && json::is_true(status.status->find("ready"))) continue;
    away[status.node] = join(troubles_of(status), "; ");
  }
  co_return away;
}

// Why pods do not take part: their nodes' daemons, else their events, else what their status says.
aio::Task<void> NetworkTrial::explain_absent() {
  const auto is_absent = [](const Station& station) {
    return station.addresses.empty() && station.why_not.empty();
  };
  std::vector<std::string> nodes;
  for (const Station& station : stations_) {
    if (is_absent(station)) nodes.push_back(station.node);
  }
  if (nodes.empty()) co_return Result<void>();
  tell_("asking why pods do not run");
  MNET_CO_TRY(const auto& away, co_await find_away(std::move(nodes)));
  const auto events = co_await cluster_.list(kEvents, plan_.ns, "fieldSelector=type%3DWarning");
  if (!events && events.error().code() == Errc::kCancelled) co_return events.error();
  for (Station& station : stations_) {
    if (!is_absent(station)) continue;
    const auto daemon = away.find(station.node);
    const bool has_status = seen_.contains(station.pod);  // then the events are of something else
    if (events && !has_status) station.why_not = last_warning(*events, station.pod);
    if (station.why_not.empty()) station.why_not = what_is_missing(station);
    if (daemon != away.end()) station.why_not = cat("daemon away: ", daemon->second);
  }
  co_return Result<void>();
}

std::string NetworkTrial::what_is_missing(const Station& station) const {
  const auto seen = seen_.find(station.pod);
  if (seen == seen_.end()) return cat("it is not running after ", plan_.timeout.count(), " s");
  if (!seen->second.empty()) return seen->second;
  return cat("no address of ", plan_.network ? plan_.network->key() : "the cluster network",
             " in its network status after ", plan_.timeout.count(),
             " s: there is nothing to send to (does the definition have `ipam`?)");
}

aio::Task<json::Object> NetworkTrial::probe(Station station) {
  if (!station.why_not.empty()) co_return json::Object();
  std::vector<std::string> addresses;
  for (const Station& other : stations_) {
    if (other.pod == station.pod || !other.why_not.empty()) continue;
    addresses.insert(addresses.end(), other.addresses.begin(), other.addresses.end());
  }
  if (addresses.empty()) co_return json::Object();
  kube::Exec exec{.ns = plan_.ns,
                  .pod = station.pod,
                  .container = "probe",
                  .command = {std::string(kInPod), "probe", "--to", join(addresses, ","),
                              "--interface", station.interface, "-o", "json"}};
  // Three small packets and the search for an MTU for each address.
  const auto patience = 20s + 40s * static_cast<long>(addresses.size());
  MNET_CO_TRY(const auto& text,
              co_await cluster_.run(std::move(exec), std::chrono::steady_clock::now() + patience));
  co_return json::parse_object(text);
}

aio::Task<void> NetworkTrial::clean_up() {
  auto deleted = co_await delete_pods();
  if (deleted || deleted.error().code() == Errc::kCancelled) co_return deleted;
  co_return deleted.error().with_text(cat(deleted.error().text(),
                                          "; pods of the test may be left: `kubectl -n ", plan_.ns,
                                          " delete pods -l app=", kLabel, "` deletes them"));
}

aio::Task<void> NetworkTrial::delete_pods() {
  const auto begun = std::chrono::steady_clock::now();
  for (;;) {
    MNET_CO_TRY(const auto& pods, co_await cluster_.list(kPods, plan_.ns, std::string(kSelector)));
    if (pods.empty()) co_return Result<void>();
    const auto waited = std::chrono::steady_clock::now() - begun;
    const auto grace = waited < kTakenDownWithin ? 1s : 0s;
    for (const json::Value& value : pods) {
      if (value.as_object() == nullptr) continue;
      const std::string name = json::text_at(*value.as_object(), {"metadata", "name"});
      MNET_CO_TRY_VOID(co_await cluster_.remove(kPods, {plan_.ns, name}, grace));
    }
    if (waited >= kGoneWithin) {
      co_return Error(Errc::kTimeout,
                      cat(pods.size(), " pods are still there after ", kGoneWithin.count(), " s"));
    }
    MNET_CO_TRY_VOID(co_await aio::sleep_for(kBetweenLooks));
  }
}

}  // namespace mnet::multusctl
