// Which container the controller works on, when, and what it gives way to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "aio/event.h"
#include "aio/group.h"
#include "aio/run.h"
#include "hotplug/controller.h"
#include "hotplug/controller_fixture.h"
#include "hotplug/pass.h"
#include "model/hotplug_settings.h"
#include "model/objects.h"

namespace mnet::hotplug {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(HotplugController, GivesAWorkerBackWhateverBecomesOfItsPass) {
  settings_.workers = 1;
  create();
  start();
  hotplug_node_.throws = true;
  edit("a@net1");
  EXPECT_THAT(node_.runs(), IsEmpty());

  hotplug_node_.throws = false;
  pass_time(2s);

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
}

// As many hang as there are workers, and they become due again before the others.
TEST_F(HotplugController, StartsWithWhatHasBeenDueForTheLongestTime) {
  settings_.workers = 1;
  create();
  add_pod("c0", "ns1", "p0");  // comes first in any list
  start();
  const auto hold = node_.plugins.hold("ADD a");
  edit("a@net1");
  ASSERT_TRUE(hold->reached.is_set());

  const auto before = node_.source.pods["ns1/p0"];
  auto edited = std::make_shared<model::PodObject>(*before);
  edited->annotations["k8s.v1.cni.cncf.io/networks"] = "b@net1";
  annotate("a@net1,c@net2");  // due first
  timer_.advance(10ms);
  node_.source.pods["ns1/p0"] = edited;
  controller_->pod_changed(before, edited);
  pass_time(150ms);
  EXPECT_EQ(controller_->counts().pending, 2);
  EXPECT_GE(controller_->oldest_difference(), 0s);
  hold->release.set();
  settle();
  settle();

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1", "ADD c net2", "ADD b net1"));
}

// A tenant's plugins that hang leave a worker to others.
TEST_F(HotplugController, LeavesAWorkerToNamespacesThatHaveNone) {
  settings_.workers = 2;
  node_.source.add_network("ns2", "b", R"({"cniVersion":"1.0.0","name":"b","type":"fake"})");
  create();
  add_pod("c2", "ns1", "p2");
  add_pod("c3", "ns2", "p3");
  start();
  const auto hold = node_.plugins.hold("ADD a");
  annotate("a@net1");
  annotate_pod("ns1/p2", "c@net1");
  pass_time(150ms);
  ASSERT_TRUE(hold->reached.is_set());
  EXPECT_THAT(node_.runs(), IsEmpty());  // those that have ended

  annotate_pod("ns2/p3", "b@net1");
  pass_time(150ms);

  EXPECT_THAT(node_.runs(), ElementsAre("ADD b net1"));
  hold->release.set();
  settle();
  EXPECT_THAT(node_.runs(), ElementsAre("ADD b net1", "ADD a net1", "ADD c net1"));
}

// What takes long continues after others had their turn; that still belongs to the same edit.
TEST_F(HotplugController, EndsAPassThatTakesLongAndGoesOnInAnother) {
  const auto hold = add_two_and_hold();
  const int turns = hotplug_node_.turns;

  pass_time(11s);
  hold->release.set();
  settle();

  EXPECT_EQ(hotplug_node_.turns, turns + 1);
  EXPECT_THAT(attached(), ElementsAre("eth0 cluster", "net1 ns1/a", "net2 ns1/b"));
  EXPECT_THAT(status(), ElementsAre("cluster eth0", "ns1/a net1", "ns1/b net2"));
}

TEST_F(HotplugController, ReadsSoMuchForAPassAndNotForEachNetwork) {
  create();
  start();
  node_.source.limits.clear();

  edit("a@net1,b@net2,c@net3");

  EXPECT_THAT(node_.source.limits, SizeIs(1));
}

TEST_F(HotplugController, TimesWhatRanPlugins) {
  create();
  start();
  edit("a@net1,b@eth0");
  edit("");

  EXPECT_THAT(hotplug_node_.timed, ElementsAre(Op::kAdd, Op::kRemove));
}

TEST_F(HotplugController, NeverActsBesideAnotherProcess) {
  create();
  hotplug_node_.is_locked = true;
  start();
  annotate("a@net1");
  pass_time(10s);
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_EQ(count_logged("hot-plug waits for another daemon of this node"), 1);

  hotplug_node_.is_locked = false;
  pass_time(1s);
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
}

// 05, 4: row 66
TEST_F(HotplugController, StartsNothingOnceItWasStopped) {
  const auto hold = add_two_and_hold();

  controller_->stop();
  hold->release.set();
  (void)aio::run(loop_, group_->join());

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
}

// The DEL may be refused, and the container live on.
TEST_F(HotplugController, TriesAgainWhatADelHasTakenTheTurnOf) {
  create();
  start();
  hotplug_node_.is_dismissed = true;

  edit("a@net1");
  EXPECT_THAT(node_.runs(), IsEmpty());
  pass_time(2s);

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
}

// 05, 4: row 46
TEST_F(HotplugController, GivesWayToADelOfTheContainer) {
  const auto hold = add_two_and_hold();

  aio::Group group(loop_.get_executor(), log_);
  group.spawn("DEL", deleting_container());
  settle();
  hold->release.set();
  ASSERT_TRUE(aio::run(loop_, group.join()).has_value());

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1", "DEL a net1", "DEL cluster eth0"));
  EXPECT_FALSE(node_.records.records.contains("c1"));
}

// 05, 4: row 46
TEST_F(HotplugController, EndsAPluginThatADelOfTheContainerHasWaitedForLongEnough) {
  (void)add_two_and_hold();

  aio::Group group(loop_.get_executor(), log_);
  group.spawn("DEL", deleting_container());
  settle();
  pass_time(29s);
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_EQ(group.size(), 1);
  pass_time(2s);
  ASSERT_TRUE(aio::run(loop_, group.join()).has_value());

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1", "DEL cluster eth0"));
  EXPECT_FALSE(node_.records.records.contains("c1"));
  EXPECT_THAT(node_.links.namespaces["/ns"], IsEmpty());
}

// 05, 4: row 65
TEST_F(HotplugController, AppliesEditsThatComeFastTogether) {
  create();
  start();
  for (int i = 0; i < 50; ++i) {
    annotate(i % 2 == 0 ? "a@net1" : "b@net1");
    pass_time(2ms);
  }
  pass_time(1s);

  EXPECT_LE(hotplug_node_.turns, 4);
  EXPECT_THAT(attached(), ElementsAre("eth0 cluster", "net1 ns1/b"));
}

TEST_F(HotplugController, DampsAPodThatFlaps) {
  create();
  start();
  for (int i = 0; i < 60; ++i) edit(i % 2 == 0 ? "a@net1" : "");
  const auto runs = node_.runs().size();
  EXPECT_LE(runs, 21);

  edit("a@net1,b@net2");
  for (int i = 0; i < 4; ++i) pass_time(16s);

  EXPECT_THAT(attached(), ElementsAre("eth0 cluster", "net1 ns1/a", "net2 ns1/b"));
}

}  // namespace
}  // namespace mnet::hotplug
