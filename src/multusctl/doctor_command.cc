#include "multusctl/doctor_command.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/at.h"
#include "json/json.h"
#include "model/objects.h"
#include "multusctl/cluster.h"
#include "multusctl/commands.h"
#include "multusctl/daemons.h"
#include "multusctl/doctor.h"
#include "multusctl/invocation.h"
#include "multusctl/node_socket.h"
#include "multusctl/print.h"
#include "multusctl/run_commands.h"
#include "multusctl/self_check.h"

namespace mnet::multusctl {
namespace {

constexpr Resource kCrds{"apiextensions.k8s.io", "v1", "customresourcedefinitions"};
constexpr Resource kOwnReviews{"authorization.k8s.io", "v1", "selfsubjectaccessreviews"};
constexpr std::chrono::seconds kPatienceOfNode{300};
constexpr Resource kReviews{"authorization.k8s.io", "v1", "subjectaccessreviews"};

json::Object review_of(const Right& right, const std::string& ns) {
  return {{"apiVersion", "authorization.k8s.io/v1"},
          {"kind", "SubjectAccessReview"},
          {"spec",
           json::Object{{"user", cat("system:serviceaccount:", ns, ":multus")},
                        {"resourceAttributes", json::Object{{"verb", right.verb},
                                                            {"group", right.group},
                                                            {"resource", right.resource},
                                                            {"subresource", right.subresource}}}}}};
}

// Writes a network status, as the daemon does for every pod: a dry run on one of the daemon's own
// pods. None: there is no such pod. kCancelled: the user lacks the right to try it.
aio::Task<std::optional<Result<json::Object>>> try_status(Cluster* cluster,
                                                          std::vector<DaemonPod> daemons) {
  using Tried = std::optional<Result<json::Object>>;
  const auto running =
      std::ranges::find_if(daemons, [](const DaemonPod& daemon) { return !daemon.name.empty(); });
  if (running == daemons.end()) co_return Tried();
  json::Object asked = review_of({"patch", "", "pods", "status"}, "");
  json::Object* spec = asked.find("spec")->as_object();
  spec->erase("user");
  asked.set("kind", "SelfSubjectAccessReview");
  const auto review = co_await cluster->create(kOwnReviews, std::move(asked));
  const bool may = review && json::is_true(json::find_at(*review, {"status", "allowed"}));
  if (!may) co_return Tried(Error(Errc::kCancelled, "not allowed"));
  json::Object change{
      {"metadata",
       json::Object{
           {"annotations", json::Object{{std::string(model::kNetworkStatusAnnotation), "[]"}}}}}};
  co_return Tried(co_await cluster->patch(kPods, {running->ns, running->name}, std::move(change),
                                          "/status?dryRun=All"));
}

class Doctor {
 public:
  Doctor(Cluster& cluster, const Invocation& invocation, bool shows_progress)
      : cluster_(cluster),
        ns_(daemon_namespace(invocation)),
        checks_pods_(invocation.has("check-pods")),
        shows_progress_(shows_progress) {}

  aio::Task<std::vector<Check>> run() {
    const auto crd =
        co_await cluster_.get(kCrds, "", "network-attachment-definitions.k8s.cni.cncf.io");
    checks_.push_back(check_crd(crd, ns_));
    MNET_CO_TRY_VOID(co_await examine_rights());
    const auto daemons = co_await find_daemons(&cluster_, ns_, {});
    MNET_CO_TRY_VOID(co_await examine_admission(daemons.value_or(std::vector<DaemonPod>())));
    if (!daemons) {
      const bool is_empty = daemons.error().code() == Errc::kNotFound;  // no nodes
      checks_.push_back(
          {is_empty ? Verdict::kBad : Verdict::kUnknown, "the daemons", daemons.error().text()});
    } else {
      MNET_CO_TRY_VOID(co_await examine_nodes(*daemons));
    }
    co_return std::move(checks_);
  }

 private:
  aio::Task<void> examine_rights() {
    const std::vector<Right> rights = daemon_rights();
    std::vector<Result<json::Object>> reviews;
    for (const Right& right : rights) {
      auto review = co_await cluster_.create(kReviews, review_of(right, ns_));
      reviews.push_back(std::move(review));
      if (!reviews.back()) break;
    }
    append(checks_, check_rights(rights, reviews, ns_));
    co_return Result<void>();
  }

  aio::Task<void> examine_admission(std::vector<DaemonPod> daemons) {
    const auto own = co_await cluster_.get(kNamespaces, "", ns_);
    MNET_CO_TRY(const auto& tried, co_await try_status(&cluster_, std::move(daemons)));
    append(checks_, check_admission(own, tried));
    co_return Result<void>();
  }

  aio::Task<void> examine_nodes(std::vector<DaemonPod> daemons) {
    MNET_CO_TRY(const auto& nodes, co_await ask_daemons(&cluster_, daemons, shows_progress_));
    append(checks_, check_versions(nodes, ns_));
    // Those without a daemon answer with the same reason again, at no cost.
    std::vector<std::string> words = {"doctor"};
    if (checks_pods_) words.emplace_back("--check-pods");
    MNET_CO_TRY(const auto& answers, co_await run_on_nodes(&cluster_, std::move(daemons),
                                                           {.command = in_pod(std::move(words)),
                                                            .patience = kPatienceOfNode,
                                                            .shows_progress = shows_progress_}));
    for (std::size_t i = 0; i < answers.size(); ++i) {
      append(checks_, check_node(nodes[i], answers[i].answer));
    }
    co_return Result<void>();
  }

  Cluster& cluster_;
  const std::string ns_;
  const bool checks_pods_, shows_progress_;
  std::vector<Check> checks_;
};

}  // namespace

Result<std::vector<Check>> examine(const Invocation& invocation, const Surroundings& surroundings) {
  MNET_TRY(const auto cluster, Cluster::open(invocation, surroundings));
  Doctor doctor(*cluster, invocation, surroundings.shows_progress);
  return aio::run(cluster->loop(), doctor.run());
}

int run_doctor(const Invocation& invocation, Surroundings& surroundings) {
  const auto checks = is_about_this_node(invocation)
                          ? Result<std::vector<Check>>(check_this_node(invocation, surroundings))
                          : examine(invocation, surroundings);
  if (!checks) {
    surroundings.output.complain("doctor", checks.error().text());
    return 1;
  }
  if (invocation.text("output").empty()) {
    surroundings.output.print_coloured(to_text(*checks, wants_colour(surroundings)));
  } else {
    (void)print_value(to_json(*checks), invocation, surroundings);
  }
  const bool is_good = std::ranges::none_of(
      *checks, [](const Check& check) { return check.verdict == Verdict::kBad; });
  return is_good ? 0 : 1;
}

}  // namespace mnet::multusctl
