#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "aio/run.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "aio/until_signal.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/at.h"
#include "json/json.h"
#include "kube/objects.h"
#include "model/requested_networks.h"
#include "multusctl/cluster.h"
#include "multusctl/commands.h"
#include "multusctl/hands/agreement.h"
#include "multusctl/hands/annotation_edit.h"
#include "multusctl/invocation.h"
#include "multusctl/pod_networks.h"
#include "multusctl/print.h"
#include "multusctl/run_commands.h"

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
  if (json::is_true(json::find_at(pod, {"spec", "hostNetwork"}))) {
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

  // What will be done, for people. Changes nothing yet.
  aio::Task<std::string> prepare() {
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
    before_ = annotation_of(pod_);
    MNET_CO_TRY(after_, edit());
    co_return cat(attaches_ ? "Attaches network " : "Removes network ", network_.key(),
                  " (interface ", network_.ifname, attaches_ ? ") to" : ") from", " pod ", name_.ns,
                  "/", name_.name, ": the annotation ", model::kNetworksAnnotation, " becomes\n  ",
                  excerpt(after_, kWhole), "\n");
  }

  // Writes the annotation and waits for the status. If this is cancelled, the annotation may be
  // written: take_back() restores it.
  aio::Task<int> run() {
    for (int attempt = 0;; ++attempt) {
      auto written = co_await write(after_);
      if (written) break;
      const bool may_pass = written.error().code() == Errc::kConflict && attempt < 3;
      if (!may_pass) co_return written.error();
      MNET_CO_TRY(pod_, co_await cluster_.get(kPods, name_.ns, name_.name));
      if (annotation_of(pod_) != before_) {
        co_return Error(Errc::kConflict,
                        "another client changed the annotation in the meantime; try again");
      }
    }
    co_return co_await wait();
  }

  // Otherwise the change would be applied later, at a time that no user expects. What another
  // client has written since then stays.
  aio::Task<std::string> take_back() {
    MNET_CO_TRY(pod_, co_await cluster_.get(kPods, name_.ns, name_.name));
    if (annotation_of(pod_) == before_) co_return std::string("the annotation is as it was");
    if (annotation_of(pod_) != after_) {
      co_return std::string("another client has changed the annotation since then: it was left");
    }
    MNET_CO_TRY([[maybe_unused]] const auto& written, co_await write(before_));
    co_return std::string("the annotation was restored");
  }

 private:
  Result<std::string> edit() {
    if (!attaches_) {
      MNET_TRY(auto&& without, without_network(before_, name_.ns, network_));
      network_.ifname = std::move(without.ifname);
      return std::move(without.annotation);
    }
    if (network_.ifname.empty()) {
      network_.ifname = free_ifname(before_, name_.ns, interfaces_of(pod_));
    }
    return with_network(before_, name_.ns, network_);
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

  aio::Task<int> wait() {
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
    co_return co_await give_up();
  }

  void tell(const NetworkRow* row) {
    surroundings_.output.print(
        row == nullptr ? cat(network_.ifname, ": removed")
                       : cat(network_.ifname, ": attached, ", join(row->ips, ","), " ", row->mac));
  }

  aio::Task<int> give_up() {
    const auto taken_back = co_await take_back();
    co_return Error(Errc::kTimeout,
                    cat("after ", timeout_.count(), " s the network status ",
                        attaches_ ? "still does not show it" : "still shows it", "; ",
                        taken_back ? *taken_back : taken_back.error().text(),
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
  std::string before_, after_;  // the annotation
};

aio::Task<void> run_into(Change* change, std::optional<Result<int>>* out) {
  out->emplace(co_await change->run());
  if (!**out && (*out)->error().code() == Errc::kCancelled) co_return (*out)->error();
  co_return Result<void>();
}

Result<int> carry_out(const Invocation& invocation, Surroundings& surroundings, bool attaches) {
  MNET_TRY(const auto cluster, Cluster::open(invocation, surroundings));
  Change change(invocation, surroundings, *cluster, attaches);
  MNET_TRY(const auto& plan, aio::run(cluster->loop(), change.prepare()));
  if (!agrees(invocation, surroundings, plan)) return 2;
  std::optional<Result<int>> done;
  // The first Ctrl-C ends the waiting, and the annotation is restored; a second one ends the
  // program.
  (void)aio::run_until_signal(cluster->loop(), run_into(&change, &done));
  if (done && (*done || done->error().code() != Errc::kCancelled)) return *std::move(done);
  const auto taken_back = aio::run(cluster->loop(), change.take_back());
  surroundings.output.complain(
      invocation.command->name,
      cat("interrupted; ", taken_back ? *taken_back : taken_back.error().text()));
  return 130;
}

int run_change(const Invocation& invocation, Surroundings& surroundings, bool attaches) {
  const std::string_view command = invocation.command->name;
  if (invocation.arguments.size() != 2) {
    surroundings.output.complain(command, "name a pod and a network");
    return 2;
  }
  const auto done = carry_out(invocation, surroundings, attaches);
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
