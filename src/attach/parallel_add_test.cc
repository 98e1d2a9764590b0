// Networks that are attached side by side: in which order their results count, and what a failure
// does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "aio/group.h"
#include "aio/run.h"
#include "attach/fake_ports.h"
#include "attach/pod_fixture.h"
#include "attach/request_text.h"
#include "base/error.h"
#include "base/text.h"
#include "chain/caller.h"
#include "chain/plugins.h"

namespace mnet::attach {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

class ParallelTest : public PodTest {
 protected:
  void SetUp() override {
    for (const char* name : {"v", "w", "x", "y"}) define(name);
    add_pod("v,w,x,y");
  }
  const std::string conf_ = delegates({"a"});
};

// pain 20
TEST_F(ParallelTest, RunsSecondariesSideBySideAfterTheMaster) {
  std::vector<std::shared_ptr<FakePlugins::Hold>> holds;
  for (const char* name : {"v", "w", "x", "y"})
    holds.push_back(node_.plugins.hold(cat("ADD ", name)));
  aio::Group group(loop_.get_executor(), log_);
  group.spawn("add", adding(request(conf_)));

  // All four wait inside their plugin at the same time.
  for (const auto& hold : holds) ASSERT_TRUE(aio::run(loop_, hold->reached.wait()));
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0"));
  for (std::size_t i = holds.size(); i-- > 0;) {
    holds[i]->release.set();
    loop_.poll();
  }
  EXPECT_TRUE(aio::run(loop_, group.join()));

  EXPECT_THAT(node_.runs(),
              ElementsAre("ADD a eth0", "ADD y net4", "ADD x net3", "ADD w net2", "ADD v net1"));
  // In whatever order they end, everything is told in the order of the list.
  EXPECT_THAT(node_.source.events, ElementsAre(MatchesRegex(".*eth0.*net1.*net2.*net3.*net4.*")));
  EXPECT_LT(status().find("net1"), status().find("net2"));
  EXPECT_LT(status().find("net3"), status().find("net4"));
  EXPECT_EQ(record().attachments.back().ifname, "net4");
}

TEST_F(ParallelTest, StartsNothingMoreAfterAFailureAndTakesAllDownNewestFirst) {
  node_.source.add_network(
      "ns1", "v",
      R"({"cniVersion":"1.0.0","name":"v","plugins":[{"type":"bridge"},{"type":"tuning"}]})");
  auto first_of_v = node_.plugins.hold("ADD v");
  auto w = node_.plugins.hold("ADD w");
  node_.plugins.errors.emplace("ADD x", Error(Errc::kPlugin, "no"));
  aio::Group group(loop_.get_executor(), log_);
  group.spawn("add", adding(request(conf_)));
  ASSERT_TRUE(aio::run(loop_, w->reached.wait()));
  loop_.poll();
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "ADD x net3"));

  node_.plugins.holds.clear();
  first_of_v->release.set();
  w->release.set();
  EXPECT_TRUE(aio::run(loop_, group.join()));

  // Neither y nor the tuning of v was started; plugins that ran were waited for before anything
  // came down.
  EXPECT_THAT(node_.runs(),
              ElementsAre("ADD a eth0", "ADD x net3", "ADD v net1", "ADD w net2", "DEL x net3",
                          "DEL w net2", "DEL v net1", "DEL v net1", "DEL a eth0"));
  EXPECT_TRUE(logged(R"(error adding container to network "x": no)"));
  EXPECT_THAT(node_.links.namespaces["/ns"], IsEmpty());
}

TEST_F(ParallelTest, ReportsTheErrorOfTheFirstNetworkInTheListThatFailed) {
  node_.plugins.errors.emplace("ADD w", Error(Errc::kPlugin, "w is broken"));
  node_.plugins.errors.emplace("ADD y", Error(Errc::kPlugin, "y is broken"));
  auto hold = node_.plugins.hold("ADD w");
  aio::Group group(loop_.get_executor(), log_);
  group.spawn("add", adding(request(conf_)));
  ASSERT_TRUE(aio::run(loop_, hold->reached.wait()));
  loop_.poll();  // y has failed by now

  hold->release.set();
  EXPECT_TRUE(aio::run(loop_, group.join()));

  EXPECT_TRUE(logged("w is broken"));
  EXPECT_FALSE(logged("y is broken"));
}

// 02, 12: row 70, an interface appears before their turn
TEST_F(ParallelTest, RunsNoneOfThemIfANameIsTaken) {
  node_.plugins.on_run = [&](const chain::PluginRun& run) {
    if (run.command == "ADD" && run.ifname == "eth0") node_.links.namespaces["/ns"].insert("net3");
  };

  auto result = add(request(conf_));

  EXPECT_THAT(result.error().text(), HasSubstr("interface name net3 already exists"));
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "DEL a eth0"));
  EXPECT_THAT(node_.links.namespaces["/ns"], ElementsAre("net3"));
}

TEST_F(ParallelTest, LetsThoseThatRunFinishWhenTheCallerLeaves) {
  auto hold = node_.plugins.hold("ADD w");
  RequestText what = request(conf_);
  what.caller = std::make_shared<chain::Caller>();
  aio::Group group(loop_.get_executor(), log_);
  group.spawn("add", adding(what));
  ASSERT_TRUE(aio::run(loop_, hold->reached.wait()));

  what.caller->leave();
  hold->release.set();
  EXPECT_TRUE(aio::run(loop_, group.join()));

  EXPECT_THAT(node_.links.namespaces["/ns"], IsEmpty());
  EXPECT_THAT(node_.records.scratch, IsEmpty());
  EXPECT_THAT(node_.source.statuses, IsEmpty());
}

}  // namespace
}  // namespace mnet::attach
