#include "multusctl/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "json/json.h"

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
  EXPECT_EQ(check_crd(json::Object()).verdict, Verdict::kGood);
  EXPECT_EQ(check_crd(Error(Errc::kNotFound, "no")).verdict, Verdict::kBad);
  EXPECT_EQ(check_crd(Error(Errc::kDenied, "no")).verdict, Verdict::kUnknown);
}

TEST(Doctor, NamesTheRightThatTheDaemonLacks) {
  const std::vector<Right> rights = {{"get", "", "pods"}, {"patch", "", "pods", "status"}};

  EXPECT_EQ(to_text(check_rights(rights, {review(true), review(true)}), false),
            "✓ the daemon's account has its rights\n");
  EXPECT_THAT(to_text(check_rights(rights, {review(true), review(false)}), false),
              HasSubstr("✗ the daemon's account may not patch pods/status: kubectl apply"));
  EXPECT_EQ(check_rights(rights, {Error(Errc::kDenied, "no")}).front().verdict, Verdict::kUnknown);
}

TEST(Doctor, TellsWhichNodesAreNotWellAndWhichDiffer) {
  EXPECT_EQ(to_text(check_nodes({node("a", "1"), node("b", "1")}), false),
            "✓ the daemons of all 2 nodes are well\n");
  EXPECT_EQ(to_text(check_nodes({node("a", "1"), node("b", "2"),
                                 NodeStatus{.node = "c", .status = {}, .why = "no daemon"}}),
                    false),
            "✗ node c: no daemon\n"
            "✗ the daemons have different versions: 1 on [a], 2 on [b]: kubectl -n kube-system "
            "rollout status daemonset kube-multus-ds\n");
  EXPECT_EQ(to_text(check_nodes({node("a", "1", false)}), false),
            "✗ node a: not ready: no primary\n");
}

}  // namespace
}  // namespace mnet::multusctl
