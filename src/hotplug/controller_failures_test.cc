// What the controller does about what fails, or cannot be told just now.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "chain/plugins.h"
#include "hotplug/controller_fixture.h"
#include "model/attachment_record.h"

namespace mnet::hotplug {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// A server may be behind the one that an earlier daemon asked.
TEST_F(HotplugController, DetachesNothingThatTheNewestAnnotationNames) {
  annotate("a,b");
  create();
  node_.source.newest_pods["ns1/p1"] = node_.source.pods["ns1/p1"];
  annotate("a");

  start();
  EXPECT_THAT(node_.runs(), IsEmpty());

  node_.source.newest_pods.clear();
  edit("a");
  pass_time(601s);
  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net2"));
}

TEST_F(HotplugController, DetachesNothingAsLongAsTheNewestAnnotationCannotBeRead) {
  annotate("a");
  create();
  start();
  node_.source.newest_error = Error(Errc::kUnavailable, "503");

  edit("b@net1");
  EXPECT_THAT(node_.runs(), IsEmpty());

  node_.source.newest_error.reset();
  pass_time(2s);
  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1", "ADD b net1"));
}

// 05, 3.12. It writes what it had read before.
TEST_F(HotplugController, MendsTheStatusThatAClientHasWritten) {
  annotate("a@net1,b@net2");
  create();
  start();
  const std::string before = node_.source.statuses["ns1/p1"];
  controller_->client_called(kDir, "c1");
  settle();
  edit("b@net2,c@net3");
  ASSERT_THAT(status(), ElementsAre("cluster eth0", "ns1/b net2", "ns1/c net3"));
  node_.source.statuses["ns1/p1"] =
      cat(before.substr(0, before.rfind(']')), R"(,{"name":"ns1/x","interface":"hot0"}])");
  forget();

  pass_time(3s);
  EXPECT_FALSE(has_written_status());
  pass_time(3s);

  EXPECT_THAT(status(), ElementsAre("cluster eth0", "ns1/b net2", "ns1/x hot0", "ns1/c net3"));
  EXPECT_THAT(node_.runs(), IsEmpty());
  forget();
  pass_time(60s);
  EXPECT_FALSE(has_written_status());
}

TEST_F(HotplugController, MendsTheStatusAgainLaterIfItCannot) {
  annotate("a@net1");
  create();
  start();
  controller_->client_called(kDir, "c1");
  settle();
  node_.source.statuses["ns1/p1"] = "[]";
  node_.source.status_error = Error(Errc::kUnavailable, "500");
  pass_time(6s);

  node_.source.status_error.reset();
  pass_time(2s);

  EXPECT_THAT(status(), ElementsAre("ns1/a net1"));
}

// 05, 4: rows 34 and 35
TEST_F(HotplugController, GoesOnBesideWhatFailsAndTriesThatAgainLater) {
  create();
  start();
  node_.plugins.errors.emplace("ADD b", Error(Errc::kPlugin, "no room"));

  edit("a@net1,b@net2,c@net3");

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1", "ADD b net2", "DEL b net2", "ADD c net3"));
  EXPECT_THAT(status(), ElementsAre("cluster eth0", "ns1/a net1", "ns1/c net3"));
  EXPECT_THAT(node_.source.events,
              Contains(HasSubstr("Warning FailedAddingInterface: Failed to add net2 from ns1/b")));
  EXPECT_EQ(controller_->counts().failing, 1);
  EXPECT_EQ(controller_->counts().present, 2);

  forget();
  for (const auto pause : {900ms, 1900ms, 3900ms}) {
    pass_time(pause);
    EXPECT_THAT(node_.runs(), IsEmpty()) << pause.count();
    pass_time(200ms);
    EXPECT_THAT(node_.runs(), ElementsAre("ADD b net2", "DEL b net2")) << pause.count();
    forget();
  }
  EXPECT_GE(controller_->oldest_difference(), 6s);

  node_.plugins.errors.clear();
  pass_time(9s);
  EXPECT_THAT(node_.runs(), ElementsAre("ADD b net2"));
  EXPECT_EQ(controller_->counts().failing, 0);
  EXPECT_EQ(controller_->oldest_difference(), 0s);
}

TEST_F(HotplugController, TellsOfTheSameFailureOnceInAWhile) {
  create();
  start();
  node_.plugins.errors.emplace("ADD a", Error(Errc::kPlugin, "no room"));
  edit("a@net1");
  for (int i = 0; i < 5; ++i) pass_time(20s);
  EXPECT_THAT(node_.source.events, SizeIs(1));
  pass_time(300s);
  EXPECT_THAT(node_.source.events, SizeIs(2));
}

// 05, 4: row 37
TEST_F(HotplugController, AttachesAsSoonAsTheDefinitionIsThere) {
  create();
  start();
  edit("late@net1");
  EXPECT_THAT(node_.runs(), IsEmpty());
  for (int i = 0; i < 6; ++i) pass_time(20s);

  node_.source.add_network("ns1", "late", R"({"cniVersion":"1.0.0","name":"l","type":"fake"})");
  controller_->network_changed("ns1/late");
  settle();

  EXPECT_THAT(node_.runs(), ElementsAre("ADD l net1"));
}

// 05, 4: row 36
TEST_F(HotplugController, LeavesALinkAloneThatIsThere) {
  create();
  start();
  node_.links.namespaces["/ns"].insert("net1");

  edit("a@net1");

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(node_.source.events, Contains(HasSubstr("FailedAddingInterface")));
}

TEST_F(HotplugController, TriesAFailedRemovalAgainAndForgetsNothing) {
  annotate("a");
  create();
  start();
  node_.plugins.errors.emplace("DEL a", Error(Errc::kPlugin, "busy"));

  edit("");
  EXPECT_THAT(node_.source.events, Contains(HasSubstr("Warning FailedRemovingInterface")));
  EXPECT_EQ(record().find("net1")->state, model::AttachmentState::kRemoving);
  node_.plugins.errors.clear();
  pass_time(2s);

  EXPECT_EQ(record().find("net1"), nullptr);
  EXPECT_THAT(status(), ElementsAre("cluster eth0"));
}

TEST_F(HotplugController, DeletesALinkThatWasRenamed) {  // kubevirt#14074
  annotate("a@net1");
  create();
  start();
  node_.links.rename_now("/ns", "net1", "virt");
  node_.links.namespaces["/ns"].insert("net1");  // another one under its name

  edit("");

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1", "DEL a net1"));
  EXPECT_THAT(node_.links.namespaces["/ns"], Not(Contains("virt")));
  EXPECT_THAT(node_.links.namespaces["/ns"], Not(Contains("net1")));
}

// Some plugins cannot do without it.
TEST_F(HotplugController, DeletesARenamedLinkThatItsPluginMisses) {
  annotate("a@net1");
  create();
  start();
  node_.links.rename_now("/ns", "net1", "virt");
  node_.plugins.on_run = [this](const chain::PluginRun& run) {
    node_.plugins.errors.clear();
    if (node_.links.namespaces["/ns"].contains(run.ifname)) return;
    node_.plugins.errors.emplace("DEL a", Error(Errc::kPlugin, "no link net1"));
  };

  edit("");

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1", "DEL a net1"));
  EXPECT_EQ(record().find("net1"), nullptr);
  EXPECT_THAT(node_.links.namespaces["/ns"], ElementsAre("eth0"));
  EXPECT_THAT(node_.source.events, Each(Not(HasSubstr("Warning"))));
}

TEST_F(HotplugController, NeverForgetsALinkThatSurvives) {
  annotate("a@net1");
  create();
  start();
  node_.links.rename_now("/ns", "net1", "virt");
  node_.plugins.answers["DEL a"] = "";  // and deletes nothing

  edit("");

  EXPECT_THAT(node_.source.events, Contains(HasSubstr("survived two DELs")));
  EXPECT_EQ(record().find("net1")->state, model::AttachmentState::kRemoving);
}

// 05, 4: row 42
TEST_F(HotplugController, WritesAStatusThatCouldNotBeWrittenLater) {
  create();
  start();
  node_.source.status_error = Error(Errc::kUnavailable, "500");

  edit("a@net1");
  EXPECT_THAT(status(), ElementsAre("cluster eth0"));
  EXPECT_TRUE(record().status_behind);
  node_.source.status_error.reset();
  pass_time(2s);

  EXPECT_THAT(status(), ElementsAre("cluster eth0", "ns1/a net1"));
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
  EXPECT_FALSE(record().status_behind);
}

TEST_F(HotplugController, TriesAgainWhereTheNamespaceCouldNotBeLookedAt) {
  create();
  start();
  node_.links.error = Error::from_errno(EMFILE, "open /ns");
  edit("a@net1");
  EXPECT_THAT(node_.runs(), IsEmpty());

  node_.links.error.reset();
  pass_time(2s);

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
}

TEST_F(HotplugController, ForgetsNoLinkThatItCannotLookFor) {
  annotate("a@net1");
  create();
  start();
  node_.links.rename_now("/ns", "net1", "virt");
  node_.plugins.on_run = [this](const auto&) {
    node_.links.error = Error::from_errno(ENOBUFS, "netlink");
  };
  edit("");
  EXPECT_EQ(record().find("net1")->state, model::AttachmentState::kRemoving);

  node_.plugins.on_run = nullptr;
  node_.links.error.reset();
  pass_time(2s);

  EXPECT_EQ(record().find("net1"), nullptr);
  EXPECT_THAT(node_.links.namespaces["/ns"], Not(Contains("virt")));
}

TEST_F(HotplugController, RunsNothingWithoutTheNodesConfiguration) {
  create();
  start();
  hotplug_node_.settings_error = Error::from_errno(EMFILE, "open 00-multus.conf");
  edit("a@net1");
  EXPECT_THAT(node_.runs(), IsEmpty());

  hotplug_node_.settings_error.reset();
  pass_time(2s);

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
}

// Of a pod with a thousand names that do not exist.
TEST_F(HotplugController, RemembersOnlySoManyFailuresOneByOne) {
  create();
  start();
  std::string names;
  for (int i = 0; i < 150; ++i) names += cat(i == 0 ? "" : ",", "none", i, "@x", i);

  edit(cat(names, ",a@net1"));

  EXPECT_THAT(attached(), Contains("net1 ns1/a"));
  EXPECT_THAT(node_.source.events, SizeIs(testing::Le(101u)));
  EXPECT_EQ(controller_->counts().failing, 150u);
  node_.source.add_network("ns1", "none149", R"({"cniVersion":"1.0.0","name":"z","type":"fake"})");
  pass_time(400s);
  pass_time(400s);
  EXPECT_THAT(attached(), Contains("x149 ns1/none149"));
}

}  // namespace
}  // namespace mnet::hotplug
