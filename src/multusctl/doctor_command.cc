#include "multusctl/doctor_command.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "multusctl/cluster.h"
#include "multusctl/commands.h"
#include "multusctl/daemons.h"
#include "multusctl/doctor.h"
#include "multusctl/invocation.h"
#include "multusctl/print.h"

namespace mnet::multusctl {
namespace {

constexpr Resource kCrds{"apiextensions.k8s.io", "v1", "customresourcedefinitions"};
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

void append(std::vector<Check>& all, std::vector<Check> more) {
  std::ranges::move(more, std::back_inserter(all));
}

aio::Task<std::vector<Check>> examine(Cluster* cluster, std::string ns, bool shows_progress) {
  std::vector<Check> checks;
  const auto crd =
      co_await cluster->get(kCrds, "", "network-attachment-definitions.k8s.cni.cncf.io");
  checks.push_back(check_crd(crd));
  const std::vector<Right> rights = daemon_rights();
  std::vector<Result<json::Object>> reviews;
  for (const Right& right : rights) {
    auto review = co_await cluster->create(kReviews, review_of(right, ns));
    reviews.push_back(std::move(review));
    if (!reviews.back()) break;
  }
  append(checks, check_rights(rights, reviews));
  auto daemons = co_await find_daemons(cluster, ns, {});
  if (!daemons) {
    checks.push_back({Verdict::kUnknown, "the daemons", daemons.error().text()});
    co_return checks;
  }
  MNET_CO_TRY(auto&& nodes, co_await ask_daemons(cluster, *std::move(daemons), shows_progress));
  append(checks, check_nodes(nodes));
  co_return checks;
}

}  // namespace

int run_doctor(const Invocation& invocation, Surroundings& surroundings) {
  const auto checks = [&]() -> Result<std::vector<Check>> {
    MNET_TRY(const auto cluster, Cluster::open(invocation, surroundings));
    const std::string ns = invocation.text("namespace");
    return aio::run(cluster->loop(),
                    examine(cluster.get(), ns.empty() ? std::string(kDaemonNamespace) : ns,
                            surroundings.shows_progress));
  }();
  if (!checks) {
    surroundings.output.complain("doctor", checks.error().text());
    return 1;
  }
  if (invocation.text("output").empty()) {
    surroundings.output.print(to_text(*checks, wants_colour(surroundings)));
  } else {
    (void)print_value(to_json(*checks), invocation, surroundings);
  }
  const bool is_good = std::ranges::none_of(
      *checks, [](const Check& check) { return check.verdict == Verdict::kBad; });
  return is_good ? 0 : 1;
}

}  // namespace mnet::multusctl
