#include "multusctl/hands/attach_command.h"

#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "aio/run.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/at.h"
#include "json/json.h"
#include "kube/objects.h"
#include "model/network_status.h"
#include "model/requested_networks.h"
#include "multusctl/cluster.h"
#include "multusctl/commands.h"
#include "multusctl/hands/agreement.h"
#include "multusctl/hands/annotation_edit.h"
#include "multusctl/invocation.h"
#include "multusctl/pod_networks.h"
#include "multusctl/print.h"

namespace mnet::multusctl {
namespace {

constexpr std::chrono::seconds kTimeout{60};
constexpr std::chrono::milliseconds kBetweenLooks{500};

std::string annotation_of(const json::Object& pod) {
  const std::string* text = kube::annotation_of(pod, model::kNetworksAnnotation);
  return text == nullptr ? std::string() : *text;
}

// The entry of the network status for that interface; none if there is none.
const NetworkRow* find_row(const PodRows& rows, const NetworkChoice& network) {
  for (const NetworkRow& row : rows.networks) {
    const bool is_there = row.interface == network.ifname && row.network == network.key() &&
                          (!row.ips.empty() || !row.mac.empty());
    if (is_there) return &row;
  }
  return nullptr;
}

PodRows status_of(const json::Object& pod, const NetworkChoice& network) {
  return rows_of(pod, DefinitionNames{network.key()});
}

std::set<std::string> interfaces_of(const json::Object& pod) {
  std::set<std::string> out;
  for (const NetworkRow& row : rows_of(pod, {}).networks) out.insert(row.interface);
  return out;
}

Result<void> check_pod(const json::Object& pod) {
  const bool* host = json::as_bool(json::find_at(pod, {"spec", "hostNetwork"}));
  if (host != nullptr && *host) {
    return Error(Errc::kInvalid, "the pod uses the host's network: nothing can be attached to it");
  }
  if (const std::string phase = json::text_at(pod, {"status", "phase"}); phase != "Running") {
    return Error(Errc::kInvalid,
                 cat("the pod is ", phase.empty() ? "not scheduled" : phase, ", not Running"));
  }
  return {};
}

class Change {
 public:
  Change(const Invocation& invocation, Surroundings& surroundings, Cluster& cluster, bool attaches)
      : invocation_(invocation),
        surroundings_(surroundings),
        cluster_(cluster),
        attaches_(attaches) {}

  aio::Task<int> run() {
    MNET_CO_TRY(timeout_, seconds_of(invocation_, "timeout", kTimeout));
    name_ = {cluster_.ns(), invocation_.arguments[0]};
    MNET_CO_TRY(network_, parse_choice(invocation_.arguments[1], name_.ns));
    network_.ifname = invocation_.text("interface");
    MNET_CO_TRY(pod_, co_await cluster_.get(kPods, name_.ns, name_.name));
    MNET_CO_TRY_VOID(check_pod(pod_));
    if (attaches_) {
      const auto definition = co_await cluster_.get(kDefinitions, network_.ns, network_.name);
      if (!definition) co_return definition.error();
    }
    MNET_CO_TRY(const std::string after, edit());
    const std::string plan =
        cat(attaches_ ? "Attaches network " : "Removes network ", network_.key(), " (interface ",
            network_.ifname, attaches_ ? ") to" : ") from", " pod ", name_.ns, "/", name_.name,
            ": the annotation ", model::kNetworksAnnotation, " becomes\n  ", excerpt(after, kWhole),
            "\n");
    if (!agrees(invocation_, surroundings_, plan)) co_return 2;
    co_return co_await carry_out(after);
  }

 private:
  Result<std::string> edit() {
    const std::string before = annotation_of(pod_);
    if (!attaches_) {
      MNET_TRY(auto&& without, without_network(before, name_.ns, network_));
      network_.ifname = std::move(without.ifname);
      return std::move(without.annotation);
    }
    if (network_.ifname.empty()) {
      network_.ifname = free_ifname(before, name_.ns, interfaces_of(pod_));
    }
    return with_network(before, name_.ns, network_);
  }

  // Fails if another client has changed the pod since it was read.
  aio::Task<json::Object> write(std::string annotation) {
    json::Object change{
        {"metadata",
         json::Object{{"resourceVersion", kube::resource_version_of(pod_)},
                      {"annotations", json::Object{{std::string(model::kNetworksAnnotation),
                                                    std::move(annotation)}}}}}};
    return cluster_.patch(kPods, name_, std::move(change));
  }

  aio::Task<int> carry_out(std::string annotation) {
    const std::string before = annotation_of(pod_);
    for (int attempt = 0;; ++attempt) {
      auto written = co_await write(annotation);
      if (written) break;
      const bool may_pass = written.error().code() == Errc::kConflict && attempt < 3;
      if (!may_pass) co_return written.error();
      MNET_CO_TRY(pod_, co_await cluster_.get(kPods, name_.ns, name_.name));
      if (annotation_of(pod_) != before) {
        co_return Error(Errc::kConflict,
                        "another client changed the annotation in the meantime; try again");
      }
    }
    co_return co_await wait(before);
  }

  aio::Task<int> wait(std::string before) {
    const auto end = std::chrono::steady_clock::now() + timeout_;
    while (std::chrono::steady_clock::now() < end) {
      MNET_CO_TRY(pod_, co_await cluster_.get(kPods, name_.ns, name_.name));
      const PodRows rows = status_of(pod_, network_);
      const NetworkRow* row = find_row(rows, network_);
      if (attaches_ == (row != nullptr)) {
        tell(row);
        co_return 0;
      }
      MNET_CO_TRY_VOID(co_await aio::sleep_for(kBetweenLooks));
    }
    co_return co_await give_up(std::move(before));
  }

  void tell(const NetworkRow* row) {
    surroundings_.output.print(
        row == nullptr ? cat(network_.ifname, ": removed")
                       : cat(network_.ifname, ": attached, ", join(row->ips, ","), " ", row->mac));
  }

  // Otherwise the change would be applied later, at a time that no user expects.
  aio::Task<int> give_up(std::string before) {
    const auto taken_back = co_await write(std::move(before));
    co_return Error(Errc::kTimeout,
                    cat("after ", timeout_.count(), " s the network status ",
                        attaches_ ? "still does not show it" : "still shows it", "; ",
                        taken_back ? "the annotation was restored" : taken_back.error().text(),
                        ". Does the daemon on node ", json::text_at(pod_, {"spec", "nodeName"}),
                        " apply annotations to running pods (`hotplug` in the daemon's "
                        "configuration)? `kubectl -n ",
                        name_.ns, " describe pod ", name_.name, "` shows its events"));
  }

  const Invocation& invocation_;
  Surroundings& surroundings_;
  Cluster& cluster_;
  const bool attaches_;
  std::chrono::seconds timeout_ = kTimeout;
  ObjectName name_;
  NetworkChoice network_;
  json::Object pod_;
};

int run_change(const Invocation& invocation, Surroundings& surroundings, bool attaches) {
  const std::string_view command = invocation.command->name;
  if (invocation.arguments.size() != 2) {
    surroundings.output.complain(command, "name a pod and a network");
    return 2;
  }
  const auto done = [&]() -> Result<int> {
    MNET_TRY(const auto cluster, Cluster::open(invocation, surroundings));
    Change change(invocation, surroundings, *cluster, attaches);
    return aio::run(cluster->loop(), change.run());
  }();
  return exit_status(done, invocation, surroundings);
}

}  // namespace

int run_attach(const Invocation& invocation, Surroundings& surroundings) {
  return run_change(invocation, surroundings, true);
}

int run_detach(const Invocation& invocation, Surroundings& surroundings) {
  return run_change(invocation, surroundings, false);
}

}  // namespace mnet::multusctl
