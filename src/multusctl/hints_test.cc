#include "multusctl/hints.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "multusctl/invocation.h"

namespace mnet::multusctl {
namespace {

std::string called_as(std::string_view program, const std::vector<std::string>& words,
                      std::string_view text) {
  const auto invocation = parse_invocation(program, words);
  return invocation ? as_called(text, *invocation) : invocation.error().text();
}

TEST(Hints, NameTheProgramAsItWasCalled) {
  const std::string_view text = "look: `multusctl pending` shows why, `multusctl pods -A` where";

  EXPECT_EQ(called_as("multusctl", {"status"}, text), text);
  EXPECT_EQ(called_as("kubectl-multus", {"status"}, text),
            "look: `kubectl multus pending` shows why, `kubectl multus pods -A` where");
}

TEST(Hints, NameTheNamespaceOfTheDaemonsThatWasGiven) {
  EXPECT_EQ(called_as("multusctl", {"status", "-n", "infra"},
                      "`multusctl pending list -o wide`, `multusctl lint --cluster`"),
            "`multusctl pending list -o wide -n infra`, "
            "`multusctl lint --cluster --daemon-namespace infra`");
  EXPECT_EQ(called_as("multusctl", {"test", "-n", "web", "--daemon-namespace", "infra"},
                      "`multusctl doctor`"),
            "`multusctl doctor -n infra`");
}

TEST(Hints, NameNoNamespaceWhereItIsNotThatOfTheDaemons) {
  EXPECT_EQ(called_as("multusctl", {"pods", "-n", "web"}, "`multusctl doctor`"),
            "`multusctl doctor`");
  EXPECT_EQ(called_as("multusctl", {"status", "-n", "kube-system"}, "`multusctl doctor`"),
            "`multusctl doctor`");
  EXPECT_EQ(called_as("multusctl", {"status", "-n", "infra"}, "`multusctl pods -A`"),
            "`multusctl pods -A`");
}

TEST(Hints, LeaveOtherTextAsItIs) {
  for (const std::string_view text :
       {"", "`kubectl get nodes`", "`multusctl", "multusctl doctor"}) {
    EXPECT_EQ(called_as("kubectl-multus", {"status", "-n", "infra"}, text), text);
  }
  EXPECT_EQ(called_as("kubectl-multus", {"status"}, "cut off: `multusctl pen"),
            "cut off: `kubectl multus pen");
}

}  // namespace
}  // namespace mnet::multusctl
