#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "aio/task.h"
#include "aio/until_signal.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/at.h"
#include "json/json.h"
#include "multusctl/cluster.h"
#include "multusctl/commands.h"
#include "multusctl/daemons.h"
#include "multusctl/hands/agreement.h"
#include "multusctl/hands/annotation_edit.h"
#include "multusctl/invocation.h"
#include "multusctl/print.h"
#include "multusctl/run_commands.h"
#include "multusctl/trial/network_trial.h"
#include "multusctl/trial/reachability.h"
#include "sys/write_all.h"

namespace mnet::multusctl {
namespace {

constexpr std::chrono::seconds kTimeout{120};
constexpr std::string_view kDefaultNamespace = "default";

std::string image_of(const json::Object& pod) {
  const auto* first = json::first_object_of(json::find_at(pod, {"spec", "containers"}));
  return first == nullptr ? std::string() : json::text_at(*first, {"image"});
}

// The nodes, the image of their daemons, and where the pods go.
aio::Task<NetworkTrialPlan> make_plan(Cluster* cluster, const Invocation* invocation) {
  NetworkTrialPlan plan;
  MNET_CO_TRY(plan.timeout, seconds_of(*invocation, "timeout", kTimeout));
  plan.ns = invocation->text("namespace");
  if (const std::string network = invocation->text("network"); !network.empty()) {
    MNET_CO_TRY(auto&& choice, parse_choice(network, cluster->ns()));
    const auto definition = co_await cluster->get(kDefinitions, choice.ns, choice.name);
    if (!definition) co_return definition.error();
    if (plan.ns.empty()) plan.ns = choice.ns;
    plan.network = std::move(choice);
  }
  if (plan.ns.empty()) plan.ns = kDefaultNamespace;
  plan.daemon_ns = daemon_namespace(*invocation);
  MNET_CO_TRY(const auto& daemons,
              co_await find_daemons(cluster, plan.daemon_ns, invocation->arguments));
  plan.image = invocation->text("image");
  for (const DaemonPod& daemon : daemons) {
    plan.nodes.push_back(daemon.node);
    if (!plan.image.empty() || daemon.name.empty()) continue;
    MNET_CO_TRY(const auto& pod, co_await cluster->get(kPods, daemon.ns, daemon.name));
    plan.image = image_of(pod);
  }
  if (plan.image.empty()) {
    co_return Error(Errc::kNotFound,
                    "no daemon pod shows which image to use: name one with --image");
  }
  co_return plan;
}

std::string plan_text(const NetworkTrialPlan& plan) {
  return cat("Creates ", plan.nodes.size() * NetworkTrial::kPodsOfNode, " pods (",
             NetworkTrial::kPodsOfNode, " on each of ", plan.nodes.size(), " nodes) of ",
             plan.image, " in namespace ", plan.ns, " with ",
             plan.network ? cat("network ", plan.network->key()) : "the cluster network",
             ", and deletes them afterwards.\n");
}

int print_verdicts(const Verdicts& verdicts, const Invocation& invocation,
                   Surroundings& surroundings) {
  const std::string format = invocation.text("output");
  if (!format.empty()) {
    (void)print_value(to_json(verdicts), invocation, surroundings);
    return is_good(verdicts) ? 0 : 1;
  }
  Table table({"FROM", "NODE", "TO", "NODE", "ADDRESS", "ROUND-TRIP", "MTU", "STATE"});
  for (const Passage& one : verdicts.passages) {
    table.add({one.from, one.from_node, one.to, one.to_node, one.address, one.round_trip, one.mtu,
               one.why.empty() ? one.state : cat(one.state, " (", one.why, ")")});
  }
  if (!table.empty()) surroundings.output.print(table.text(true));
  for (const std::string& problem : verdicts.problems) {
    surroundings.output.complain("test", problem);
  }
  for (const std::string& note : verdicts.notes) surroundings.output.complain("test", note);
  if (is_good(verdicts)) surroundings.output.print("no problems found");
  return is_good(verdicts) ? 0 : 1;
}

aio::Task<void> run_into(NetworkTrial* test, std::optional<Result<Verdicts>>* out) {
  out->emplace(co_await test->run());
  if (!**out && (*out)->error().code() == Errc::kCancelled) co_return (*out)->error();
  co_return Result<void>();
}

Result<int> try_network(const Invocation& invocation, Surroundings& surroundings) {
  MNET_TRY(const auto cluster, Cluster::open(invocation, surroundings));
  MNET_TRY(auto&& plan, aio::run(cluster->loop(), make_plan(cluster.get(), &invocation)));
  if (!agrees(invocation, surroundings, plan_text(plan))) return 2;
  NetworkTrial test(*cluster, std::move(plan), [&surroundings](std::string_view progress) {
    if (surroundings.shows_progress) sys::print(STDERR_FILENO, cat("multusctl: ", progress));
  });
  std::optional<Result<Verdicts>> verdicts;
  // The first Ctrl-C ends the test, and the pods go; a second one ends the program.
  (void)aio::run_until_signal(cluster->loop(), run_into(&test, &verdicts));
  const auto cleaned = aio::run(cluster->loop(), test.clean_up());
  if (!cleaned) surroundings.output.complain("test", cleaned.error().text());
  if (!verdicts || (!*verdicts && verdicts->error().code() == Errc::kCancelled)) {
    surroundings.output.complain("test",
                                 cleaned ? "interrupted; its pods were deleted" : "interrupted");
    return 130;
  }
  if (!*verdicts) return verdicts->error();
  const int status = print_verdicts(**verdicts, invocation, surroundings);
  return cleaned ? status : 1;
}

}  // namespace

int run_test(const Invocation& invocation, Surroundings& surroundings) {
  const auto done = try_network(invocation, surroundings);
  return exit_status(done, invocation, surroundings);
}

}  // namespace mnet::multusctl
