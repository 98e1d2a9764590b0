#include "multusctl/doctor.h"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "json/at.h"
#include "json/json.h"

namespace mnet::multusctl {
namespace {

constexpr std::string_view kApply = "kubectl apply -f deploy/multus-daemonset-thick.yml";

Check unknown(std::string what, const Error& why) {
  return {Verdict::kUnknown, std::move(what), why.text()};
}

std::string right_text(const Right& right) {
  return cat(right.verb, " ", right.resource, right.subresource.empty() ? "" : "/",
             right.subresource, right.group.empty() ? "" : ".", right.group);
}

std::string_view mark_of(Verdict verdict) {
  return verdict == Verdict::kGood ? "✓" : verdict == Verdict::kBad ? "✗" : "?";
}

std::string coloured(Verdict verdict, bool in_colour) {
  const std::string_view mark = mark_of(verdict);
  if (!in_colour) return std::string(mark);
  const std::string_view colour = verdict == Verdict::kGood  ? "\033[32m"
                                  : verdict == Verdict::kBad ? "\033[31m"
                                                             : "\033[33m";
  return cat(colour, mark, "\033[0m");
}

}  // namespace

Check check_crd(const Result<json::Object>& crd) {
  const std::string what = "the definition of networks (CRD) is installed";
  if (!crd && crd.error().code() == Errc::kNotFound) {
    return {Verdict::kBad, "the definition of networks (CRD) is missing", std::string(kApply)};
  }
  if (!crd) return unknown(what, crd.error());
  const json::Array* conditions = json::as_array(json::find_at(*crd, {"status", "conditions"}));
  for (std::size_t i = 0; conditions != nullptr && i < conditions->size(); ++i) {
    const json::Object* one = (*conditions)[i].as_object();
    if (one == nullptr || json::text_at(*one, {"type"}) != "Established") continue;
    if (json::text_at(*one, {"status"}) == "True") return {Verdict::kGood, what};
    return {Verdict::kBad, "the definition of networks (CRD) is not served",
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
                                const std::vector<Result<json::Object>>& reviews) {
  std::vector<Check> checks;
  for (std::size_t i = 0; i < reviews.size(); ++i) {
    if (!reviews[i]) {
      checks.push_back(unknown("the rights of the daemon's account", reviews[i].error()));
      return checks;
    }
    const bool* allowed = json::as_bool(json::find_at(*reviews[i], {"status", "allowed"}));
    if (allowed != nullptr && *allowed) continue;
    checks.push_back({Verdict::kBad, cat("the daemon's account may not ", right_text(rights[i])),
                      std::string(kApply)});
  }
  if (checks.empty()) checks.push_back({Verdict::kGood, "the daemon's account has its rights"});
  return checks;
}

std::vector<Check> check_nodes(const std::vector<NodeStatus>& nodes) {
  std::vector<Check> checks;
  std::map<std::string, std::vector<std::string>> by_version;
  for (const NodeStatus& node : nodes) {
    if (node.status) by_version[json::text_at(*node.status, {"multus"})].push_back(node.node);
    for (const std::string& trouble : troubles_of(node)) {
      checks.push_back({Verdict::kBad, cat("node ", node.node), trouble});
    }
  }
  if (checks.empty()) {
    checks.push_back({Verdict::kGood, cat("the daemons of all ", nodes.size(), " nodes are well")});
  }
  if (by_version.size() > 1) {
    std::vector<std::string> texts;
    for (const auto& [version, names] : by_version) {
      texts.push_back(cat(version, " on ", bracketed(names)));
    }
    checks.push_back({Verdict::kBad,
                      cat("the daemons have different versions: ", join(texts, ", ")),
                      "kubectl -n kube-system rollout status daemonset kube-multus-ds"});
  }
  return checks;
}

std::string to_text(const std::vector<Check>& checks, bool in_colour) {
  std::string out;
  for (const Check& check : checks) {
    out += cat(coloured(check.verdict, in_colour), " ", check.what,
               check.advice.empty() ? "" : ": ", check.advice, "\n");
  }
  return out;
}

json::Object to_json(const std::vector<Check>& checks) {
  json::Array list;
  for (const Check& check : checks) {
    const std::string_view verdict = check.verdict == Verdict::kGood  ? "good"
                                     : check.verdict == Verdict::kBad ? "bad"
                                                                      : "unknown";
    list.push_back(
        json::Object{{"verdict", verdict}, {"what", check.what}, {"advice", check.advice}});
  }
  return json::Object{{"version", 1}, {"checks", std::move(list)}};
}

}  // namespace mnet::multusctl
