#include "multusctl/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "json/json.h"
#include "multusctl/node_status.h"

namespace mnet::multusctl {
namespace {

using testing::HasSubstr;

NodeStatus node(std::string name, std::string version, bool is_ready = true) {
  return {.node = std::move(name),
          .status = json::Object{{"version", 1},
                                 {"multus", std::move(version)},
                                 {"ready", is_ready},
                                 {"reason", is_ready ? "" : "no primary"}}};
}

json::Object review(bool allowed) { return {{"status", json::Object{{"allowed", allowed}}}}; }

TEST(Doctor, TellsAMissingDefinitionFromOneThatCannotBeSeen) {
  EXPECT_EQ(check_crd(json::Object(), "kube-system").verdict, Verdict::kGood);
  EXPECT_EQ(check_crd(Error(Errc::kNotFound, "no"), "kube-system").verdict, Verdict::kBad);
  EXPECT_EQ(check_crd(Error(Errc::kDenied, "no"), "kube-system").verdict, Verdict::kUnknown);
}

TEST(Doctor, NamesTheRightThatTheDaemonLacks) {
  const std::vector<Right> rights = {{"get", "", "pods"}, {"patch", "", "pods", "status"}};

  EXPECT_EQ(to_text(check_rights(rights, {review(true), review(true)}, "kube-system"), false),
            "✓ the daemon's account has all its rights\n");
  EXPECT_THAT(
      to_text(check_rights(rights, {review(true), review(false)}, "kube-system"), false),
      HasSubstr("✗ the daemon's account lacks the right to patch pods/status: kubectl apply"));
  EXPECT_EQ(check_rights(rights, {Error(Errc::kDenied, "no")}, "kube-system").front().verdict,
            Verdict::kUnknown);
}

TEST(Doctor, TellsWhichDaemonsDiffer) {
  const NodeStatus silent{.node = "c", .status = {}, .why = "no daemon"};

  EXPECT_EQ(to_text(check_versions({node("a", "1"), node("b", "1"), silent}, "net"), false),
            "✓ all daemons that answer (2 of 3) have version 1\n");
  EXPECT_EQ(to_text(check_versions({node("a", "1"), node("b", "2"), silent}, "net"), false),
            "✗ the daemons have different versions: 1 on [a], 2 on [b]: kubectl -n net "
            "rollout status daemonset -l app=multus\n");
  EXPECT_TRUE(check_versions({silent}, "net").empty());
}

TEST(Doctor, TellsOfANodeByItsOwnChecksOrByItsStatusAndNeverByBoth) {
  const NodeStatus sick = node("a", "1", false);
  const NodeStatus silent{.node = "c", .status = {}, .why = "no daemon"};
  const json::Object own = to_json({{Verdict::kBad, "the daemon", "not ready: no primary"}});

  EXPECT_EQ(to_text(check_node(sick, own), false), "✗ node a: the daemon: not ready: no primary\n");
  EXPECT_EQ(to_text(check_node(sick, Error(Errc::kTimeout, "too late")), false),
            "✗ node a: not ready: no primary\n? node a: its checks: too late\n");
  EXPECT_EQ(to_text(check_node(silent, Error(Errc::kUnavailable, "no daemon")), false),
            "✗ node c: no daemon\n");
}

TEST(Doctor, GivesAdviceForTheNamespaceThatIsMeant) {
  EXPECT_EQ(check_crd(Error(Errc::kNotFound, "no"), "kube-system").advice,
            "kubectl apply -f deploy/multus-daemonset-thick.yml");
  EXPECT_THAT(check_crd(Error(Errc::kNotFound, "no"), "net").advice, HasSubstr("namespace net"));
}

TEST(Doctor, TellsWhichAdmissionIsInTheWay) {
  const json::Object strict =
      *json::parse_object(R"({"metadata":{"name":"kube-system","labels":)"
                          R"({"pod-security.kubernetes.io/enforce":"restricted"}}})");
  const auto checks =
      check_admission(strict, Result<json::Object>(Error(Errc::kInvalid, "denied by x")));
  const auto good = check_admission(json::Object(), Result<json::Object>(json::Object()));
  const auto unknown = check_admission(Error(Errc::kDenied, "no"),
                                       Result<json::Object>(Error(Errc::kCancelled, "no")));

  EXPECT_EQ(checks[0].advice,
            "kubectl label --overwrite namespace kube-system "
            "pod-security.kubernetes.io/enforce=privileged");
  EXPECT_EQ(checks[1].verdict, Verdict::kBad);
  EXPECT_THAT(checks[1].advice, HasSubstr("denied by x"));
  EXPECT_EQ(good[0].verdict, Verdict::kGood);
  EXPECT_EQ(good[1].verdict, Verdict::kGood);
  EXPECT_EQ(unknown[0].verdict, Verdict::kUnknown);
  EXPECT_EQ(unknown[1].verdict, Verdict::kUnknown);
}

TEST(Doctor, ShowsWhatANodeFoundAsThatNodes) {
  const json::Object self = *json::parse_object(
      R"({"ok":false,"findings":[{"severity":"error","check":"plugins","what":"no \"x\"",)"
      R"("why":"Pods fail","advice":"Install it"},{"severity":"warning","check":"clock",)"
      R"("what":"late","why":"w","advice":"a"}]})");
  const json::Object node = to_json(check_findings(self));

  EXPECT_EQ(to_text(check_node({.node = "n1", .status = {}}, node), false),
            "✗ node n1: plugins: no \"x\": Pods fail. Install it\n! node n1: clock: late: w. a\n");
}

TEST(Doctor, TellsWhichPodsFailTheirCheck) {
  const json::Object answer = *json::parse_object(
      R"({"containers":[{"container":"c1","pod":"a/good","ok":true,"error":""},)"
      R"({"container":"c2","pod":"a/bad","ok":false,"error":"no link \u009bnet1"}]})");

  EXPECT_EQ(to_text(check_containers(answer), false),
            "✗ CHECK of pod a/bad fails: no link \\u009bnet1 (delete the pod; its replacement "
            "gets its networks)\n");
  EXPECT_EQ(to_text(check_containers(json::Object()), false), "✓ CHECK of 0 containers succeeds\n");
}

TEST(Doctor, SaysNothingThatATerminalObeysButItsColours) {
  EXPECT_EQ(to_text({{Verdict::kBad, "\x1b[2Jwhat", "two\nlines"}}, true),
            "\x1b[31m✗\x1b[0m \\x1b[2Jwhat: two\\nlines\n");
}

}  // namespace
}  // namespace mnet::multusctl
