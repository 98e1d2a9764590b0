// CHECK and STATUS (02, 7.1 and 7.2).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "aio/run.h"
#include "attach/node_fixture.h"
#include "attach/pod_fixture.h"
#include "attach/request.h"
#include "attach/request_text.h"
#include "base/error.h"
#include "base/text.h"
#include "chain/caller.h"
#include "chain/plugins.h"
#include "cni/error.h"

namespace mnet::attach {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class CheckTest : public NodeTest {
 protected:
  void attach(const std::string& members) {
    auto added = add(request(members));
    ASSERT_TRUE(added) << added.error().text();
    forget();
  }
};

TEST_F(CheckTest, ChecksWhatAddMadeInOrderWithItsResults) {
  attach(delegates({"a", "b"}));

  ASSERT_TRUE(check(request(delegates({"other"}))));

  EXPECT_THAT(node_.runs(), ElementsAre("CHECK a eth0", "CHECK b net1"));
  EXPECT_NE(node_.plugins.config(1).find("prevResult"), nullptr);
}

// 02, 12: row 135
TEST_F(CheckTest, EndsAtTheFirstErrorAndKeepsItsCode) {
  attach(delegates({"a", "b", "c"}));
  node_.plugins.errors.emplace("CHECK b", cni::coded(cni::Code::kInvalidConfig, "gone", "d"));

  auto checked = check(request(delegates({"a", "b", "c"})));

  EXPECT_THAT(checked.error(), HasCode(7));
  EXPECT_EQ(checked.error().origin()->msg,
            "Multus: [ns1/p1/u1]: error checking network \"b\": gone");
  EXPECT_THAT(node_.runs(), ElementsAre("CHECK a eth0", "CHECK b net1"));
}

// A pod of the cluster network `main` with the networks `x` and `y`, of which the second fails
// CHECK.
class CheckNetworksTest : public PodTest {
 protected:
  void SetUp() override {
    node_.source.add_network("kube-system", "main",
                             R"({"cniVersion":"1.0.0","name":"main","type":"bridge"})");
    add_pod("x,y");
    define("x");
    define("y");
    ASSERT_TRUE(add(request(kCluster)));
    forget();
    node_.source.events.clear();
    node_.plugins.errors.emplace("CHECK x", cni::coded(cni::Code::kInvalidConfig, "gone"));
  }

  const std::string kCluster = R"("clusterNetwork":"main")";
};

// The original verifies nothing there, and IPAM plugins without CHECK are in use (whereabouts).
TEST_F(CheckNetworksTest, ReportsOthersThanTheMainNetwork) {
  for (const char* key : {"", R"("checkNetworks":"report",)", R"("checkNetworks":null,)"}) {
    EXPECT_TRUE(check(request(key + kCluster))) << key;

    EXPECT_THAT(node_.runs(), ElementsAre("CHECK main eth0", "CHECK x net1", "CHECK y net2"));
    EXPECT_THAT(node_.source.events,
                ElementsAre(AllOf(StartsWith("Warning NetworkCheckFailed: CHECK of network ns1/x, "
                                             "interface net1 failed: "),
                                  EndsWith("gone"))));
    EXPECT_TRUE(logged("CHECK of network ns1/x, interface net1 failed"));
    forget();
    node_.source.events.clear();
  }
}

TEST_F(CheckNetworksTest, TellsHowManyWereReported) {
  auto request_of_it = read_text(Verb::kCheck, request(kCluster), log_);

  EXPECT_EQ(*aio::run(loop_, pods_.typed().check(*std::move(request_of_it))), 1u);
}

TEST_F(CheckNetworksTest, FailsForTheMainNetwork) {
  node_.plugins.errors.emplace("CHECK main", cni::coded(cni::Code::kInvalidConfig, "main is gone"));

  for (const char* mode : {"report", "primary", "all"}) {
    auto checked = check(request(cat(R"("checkNetworks":")", mode, "\",", kCluster)));
    EXPECT_THAT(checked.error().text(), HasSubstr("main is gone")) << mode;
  }
}

TEST_F(CheckNetworksTest, FailsForEveryNetworkIfAsked) {
  auto checked = check(request(R"("checkNetworks":"all",)" + kCluster));

  EXPECT_THAT(checked.error(), HasCode(7));
  EXPECT_THAT(node_.source.events, IsEmpty());
}

TEST_F(CheckNetworksTest, ChecksTheMainNetworkAloneIfAsked) {
  EXPECT_TRUE(check(request(R"("checkNetworks":"primary",)" + kCluster)));

  EXPECT_THAT(node_.runs(), ElementsAre("CHECK main eth0"));
}

// These the original checks.
TEST_F(CheckTest, ReportsInlineDelegatesOnlyIfAsked) {
  attach(delegates({"a", "b"}));
  node_.plugins.errors.emplace("CHECK b", cni::coded(cni::Code::kInvalidConfig, "gone"));

  EXPECT_FALSE(check(request(delegates({"a", "b"}))));
  EXPECT_TRUE(check(request(R"("checkNetworks":"report",)" + delegates({"a", "b"}))));
}

// 02, 12: row 136
TEST_F(CheckTest, SkipsWhatCannotBeChecked) {
  attach(R"("delegates":[{"cniVersion":"1.0.0","name":"a","type":"x"},)"
         R"({"cniVersion":"0.3.1","name":"b","type":"x"},)"
         R"({"cniVersion":"1.0.0","name":"c","disableCheck":true,"plugins":[{"type":"x"}]},)"
         R"({"cniVersion":"1.0.0","name":"d","type":"x"}])");

  EXPECT_TRUE(check(request(delegates({"a"}))));
  EXPECT_THAT(node_.runs(), ElementsAre("CHECK a eth0", "CHECK d net3"));
}

// 02, 3.3
TEST_F(CheckTest, FailsForMultusItself) {
  const std::string conf =
      R"("delegates":[{"cniVersion":"1.0.0","name":"a","type":"multus","binDir":"/srv"}])";

  for (const auto& answer : {check(request(conf)), status(request(conf))}) {
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().text(), HasSubstr(R"(type "multus" is multus itself)"));
  }
  EXPECT_THAT(node_.runs(), IsEmpty());
}

TEST_F(CheckTest, ChecksTheConfigurationWithoutARecord) {
  EXPECT_TRUE(check(request(delegates({"a", "b"}))));
  EXPECT_THAT(node_.runs(), ElementsAre("CHECK a eth0", "CHECK b net1"));

  forget();
  node_.networks.configs["/n/c.conf"] = R"({"cniVersion":"1.0.0","name":"c","type":"x"})";
  EXPECT_TRUE(check(request(R"("clusterNetwork":"/n/c.conf","defaultNetworks":["/n/d.conf"])")));
  EXPECT_THAT(node_.runs(), ElementsAre("CHECK c eth0"));
}

TEST_F(CheckTest, ChecksNothingElseWhileTheRecordCannotBeRead) {
  node_.records.scratch_error = Error::from_errno(EMFILE, "open c1");

  auto checked = check(request(delegates({"other"})));

  EXPECT_THAT(checked.error(), HasCode(11));
  EXPECT_THAT(node_.runs(), IsEmpty());
}

TEST_F(CheckTest, StopsWhenItsCallerLeaves) {
  attach(delegates({"a", "b"}));
  RequestText what = request(delegates({"a"}));
  what.caller = std::make_shared<chain::Caller>();
  node_.plugins.on_run = [&](const chain::PluginRun&) { what.caller->leave(); };

  EXPECT_EQ(check(what).error().code(), Errc::kCancelled);
  EXPECT_THAT(node_.runs(), ElementsAre("CHECK a eth0"));
}

class StatusTest : public NodeTest {
 protected:
  static RequestText asking(const std::string& members) {
    RequestText what = request(members);
    what.container_id.clear();
    what.ifname.clear();
    what.netns.clear();
    what.args.clear();
    return what;
  }
};

// 02, 12: row 137
TEST_F(StatusTest, PassesThePluginsAnswerOnUnchanged) {
  node_.plugins.errors.emplace("STATUS a",
                               cni::coded(cni::Code::kLimitedConnectivity, "limited", "why"));

  auto answer = status(asking(delegates({"a", "b"}, "1.1.0")));

  ASSERT_FALSE(answer);
  EXPECT_EQ(*answer.error().origin(), (ErrorObject{51, "limited", "why"}));
  EXPECT_THAT(node_.runs(), ElementsAre("STATUS a"));
}

TEST_F(StatusTest, AsksOnlyTheMaster) {
  EXPECT_TRUE(status(asking(delegates({"a", "b"}, "1.1.0"))));
  EXPECT_THAT(node_.runs(), ElementsAre("STATUS a"));
}

// 02, 12: row 138
TEST_F(StatusTest, SaysAtOnceThatTheReadinessIndicatorIsMissing) {
  auto answer = status(asking(R"("readinessindicatorfile":"/r",)" + delegates({"a"}, "1.1.0")));

  EXPECT_THAT(answer.error(), HasCode(50));
  EXPECT_THAT(answer.error().text(), HasSubstr("readinessindicatorfile @ /r"));
  EXPECT_EQ(node_.readiness.asked, 1);
  EXPECT_THAT(node_.runs(), IsEmpty());
}

// 02, 12: row 139
TEST_F(StatusTest, RunsNothingForOlderVersions) {
  EXPECT_TRUE(status(asking(delegates({"a"}, "1.0.0"))));
  EXPECT_THAT(node_.runs(), IsEmpty());
}

TEST_F(StatusTest, IsNotAvailableWithoutAMaster) {
  auto answer = status(asking(R"("clusterNetwork":"/not/there")"));

  EXPECT_THAT(answer.error(), HasCode(50));
  EXPECT_THAT(answer.error().text(), HasSubstr("failed to get clusterNetwork"));
}

TEST_F(StatusTest, IgnoresAPreviousResult) {
  EXPECT_TRUE(status(asking(R"("prevResult":{"cniVersion":"9"},)" + delegates({"a"}))));
}

}  // namespace
}  // namespace mnet::attach
