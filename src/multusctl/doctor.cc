#include "multusctl/doctor.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "json/at.h"
#include "json/json.h"
#include "multusctl/daemons.h"
#include "multusctl/node_status.h"

namespace mnet::multusctl {
namespace {

// Foreign text in a check: a plugin's error is long.
constexpr std::size_t kMostShown = 600;

// The manifest is for one namespace.
std::string apply_again(const std::string& daemon_ns) {
  if (daemon_ns == kDaemonNamespace) return "kubectl apply -f deploy/multus-daemonset-thick.yml";
  return cat("apply the manifest that Multus was installed with in namespace ", daemon_ns,
             " again");
}

Check unknown(std::string what, const Error& why) {
  return {Verdict::kUnknown, std::move(what), excerpt(why.text(), kMostShown)};
}

std::string right_text(const Right& right) {
  return cat(right.verb, " ", right.resource, right.subresource.empty() ? "" : "/",
             right.subresource, right.group.empty() ? "" : ".", right.group);
}

struct Look {
  std::string_view name, mark, colour;
};

Look look_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kGood:
      return {"good", "✓", "\033[32m"};
    case Verdict::kBad:
      return {"bad", "✗", "\033[31m"};
    case Verdict::kOdd:
      return {"odd", "!", "\033[33m"};
    case Verdict::kUnknown:
      break;
  }
  return {"unknown", "?", "\033[33m"};
}

Verdict verdict_of(std::string_view name) {
  for (const Verdict one : {Verdict::kGood, Verdict::kBad, Verdict::kOdd}) {
    if (look_of(one).name == name) return one;
  }
  return Verdict::kUnknown;
}

std::string coloured(Verdict verdict, bool in_colour) {
  const Look look = look_of(verdict);
  return in_colour ? cat(look.colour, look.mark, "\033[0m") : std::string(look.mark);
}

std::string shown(const json::Object& object, std::string_view key) {
  return excerpt(json::text_at(object, {key}), kMostShown);
}

}  // namespace

Check check_crd(const Result<json::Object>& crd, const std::string& daemon_ns) {
  const std::string what = "the CRD of network definitions is installed";
  if (!crd && crd.error().code() == Errc::kNotFound) {
    return {Verdict::kBad, "the CRD of network definitions is missing", apply_again(daemon_ns)};
  }
  if (!crd) return unknown(what, crd.error());
  for (const json::Object* one : json::objects_of(json::find_at(*crd, {"status", "conditions"}))) {
    if (json::text_at(*one, {"type"}) != "Established") continue;
    if (json::text_at(*one, {"status"}) == "True") return {Verdict::kGood, what};
    return {Verdict::kBad, "the CRD of network definitions is not served",
            excerpt(json::text_at(*one, {"message"}))};
  }
  return {Verdict::kGood, what};
}

std::vector<Right> daemon_rights() {
  std::vector<Right> rights;
  for (const char* verb : {"get", "list", "watch"}) {
    rights.push_back({verb, "k8s.cni.cncf.io", "network-attachment-definitions"});
    rights.push_back({verb, "", "pods"});
  }
  rights.push_back({"patch", "", "pods", "status"});
  rights.push_back({"create", "", "events"});
  rights.push_back({"patch", "", "events"});
  return rights;
}

std::vector<Check> check_rights(const std::vector<Right>& rights,
                                const std::vector<Result<json::Object>>& reviews,
                                const std::string& daemon_ns) {
  std::vector<Check> checks;
  for (std::size_t i = 0; i < reviews.size(); ++i) {
    if (!reviews[i]) {
      checks.push_back(unknown("the rights of the daemon's account", reviews[i].error()));
      return checks;
    }
    if (json::is_true(json::find_at(*reviews[i], {"status", "allowed"}))) continue;
    checks.push_back({Verdict::kBad,
                      cat("the daemon's account lacks the right to ", right_text(rights[i])),
                      apply_again(daemon_ns)});
  }
  if (checks.empty()) checks.push_back({Verdict::kGood, "the daemon's account has all its rights"});
  return checks;
}

std::vector<Check> check_node(const NodeStatus& node, const Result<json::Object>& own) {
  std::vector<Check> checks;
  if (own) {
    for (const json::Object* one : json::objects_of(own->find("checks"))) {
      checks.push_back({verdict_of(json::text_at(*one, {"verdict"})),
                        cat("node ", node.node, ": ", shown(*one, "what")), shown(*one, "advice")});
    }
    return checks;
  }
  for (const std::string& trouble : troubles_of(node)) {
    checks.push_back({Verdict::kBad, cat("node ", node.node), trouble});
  }
  // The checks above already report a daemon that did not answer the first question.
  if (node.status) checks.push_back(unknown(cat("node ", node.node, ": its checks"), own.error()));
  return checks;
}

std::vector<Check> check_versions(const std::vector<NodeStatus>& nodes,
                                  const std::string& daemon_ns) {
  std::map<std::string, std::vector<std::string>> by_version;
  for (const NodeStatus& node : nodes) {
    if (node.status) by_version[json::text_at(*node.status, {"multus"})].push_back(node.node);
  }
  if (by_version.empty()) return {};
  if (by_version.size() == 1) {
    const auto& [version, names] = *by_version.begin();
    return {{Verdict::kGood, cat("all daemons that answer (", names.size(), " of ", nodes.size(),
                                 ") have version ", excerpt(version))}};
  }
  std::vector<std::string> texts;
  texts.reserve(by_version.size());
  for (const auto& [version, names] : by_version) {
    texts.push_back(cat(excerpt(version), " on ", bracketed(names)));
  }
  return {{Verdict::kBad, cat("the daemons have different versions: ", join(texts, ", ")),
           cat("kubectl -n ", daemon_ns, " rollout status daemonset -l app=multus")}};
}

std::vector<Check> check_admission(const Result<json::Object>& daemon_namespace,
                                   const std::optional<Result<json::Object>>& dry_run) {
  std::vector<Check> checks;
  const std::string what = "the daemons' namespace admits privileged pods";
  if (!daemon_namespace) {
    checks.push_back(unknown(what, daemon_namespace.error()));
  } else {
    const std::string level = json::text_at(
        *daemon_namespace, {"metadata", "labels", "pod-security.kubernetes.io/enforce"});
    const std::string name = json::text_at(*daemon_namespace, {"metadata", "name"});
    if (level.empty() || level == "privileged") {
      checks.push_back({Verdict::kGood, what});
    } else {
      checks.push_back({Verdict::kBad,
                        cat("Pod Security keeps the daemons out of namespace ", name,
                            " (enforce=", excerpt(level), ")"),
                        cat("kubectl label --overwrite namespace ", name,
                            " pod-security.kubernetes.io/enforce=privileged")});
    }
  }
  const std::string written = "admission lets the daemon write network statuses";
  if (!dry_run) return checks;
  if (*dry_run) {
    checks.push_back({Verdict::kGood, written});
  } else if (dry_run->error().code() == Errc::kCancelled) {
    checks.push_back(
        {Verdict::kUnknown, written, "needs the right to patch pods/status, for a dry run"});
  } else {
    checks.push_back(
        {Verdict::kBad, "admission blocks network statuses",
         cat(excerpt(dry_run->error().text(), kMostShown),
             " (kubectl get validatingadmissionpolicies,validatingwebhookconfigurations,"
             "mutatingwebhookconfigurations)")});
  }
  return checks;
}

std::vector<Check> check_findings(const json::Object& self_check) {
  std::vector<Check> checks;
  for (const json::Object* finding : json::objects_of(self_check.find("findings"))) {
    const bool is_error = json::text_at(*finding, {"severity"}) == "error";
    checks.push_back({is_error ? Verdict::kBad : Verdict::kOdd,
                      cat(shown(*finding, "check"), ": ", shown(*finding, "what")),
                      cat(shown(*finding, "why"), ". ", shown(*finding, "advice"))});
  }
  if (checks.empty()) checks.push_back({Verdict::kGood, "the self-check found no problems"});
  return checks;
}

std::vector<Check> check_containers(const json::Object& answer) {
  std::vector<Check> checks;
  const auto containers = json::objects_of(answer.find("containers"));
  for (const json::Object* one : containers) {
    if (json::is_true(one->find("ok"))) continue;
    const std::string pod = shown(*one, "pod");
    checks.push_back(
        {Verdict::kBad,
         cat("CHECK of ", pod.empty() ? "container" : "pod", " ",
             pod.empty() ? shown(*one, "container") : pod, " fails"),
         cat(shown(*one, "error"), " (delete the pod; its replacement gets its networks)")});
  }
  if (checks.empty()) {
    checks.push_back({Verdict::kGood, cat("CHECK of ", containers.size(), " containers succeeds")});
  }
  return checks;
}

std::string_view mark_of(Verdict verdict) { return look_of(verdict).mark; }

void append(std::vector<Check>& all, std::vector<Check> more) {
  std::ranges::move(more, std::back_inserter(all));
}

std::string to_text(const std::vector<Check>& checks, bool in_colour) {
  std::string out;
  for (const Check& check : checks) {
    out += cat(coloured(check.verdict, in_colour), " ", excerpt(check.what, kWhole),
               check.advice.empty() ? "" : ": ", excerpt(check.advice, kWhole), "\n");
  }
  return out;
}

json::Object to_json(const std::vector<Check>& checks) {
  json::Array list;
  for (const Check& check : checks) {
    list.push_back(json::Object{
        {"verdict", look_of(check.verdict).name}, {"what", check.what}, {"advice", check.advice}});
  }
  return json::Object{{"version", 1}, {"checks", std::move(list)}};
}

}  // namespace mnet::multusctl
