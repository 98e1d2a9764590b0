// What the controller makes of the containers that it finds, and of records that are old, damaged
// or made by another multus.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <string>

#include "aio/run.h"
#include "base/error.h"
#include "base/text.h"
#include "hotplug/controller_fixture.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/hotplug_settings.h"
#include "model/objects.h"

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

// 05, 4: row 52
TEST_F(HotplugController, AppliesWhatWasEditedWhileNoDaemonRan) {
  annotate("a");
  create();
  annotate("a,b@blue");

  start();

  EXPECT_THAT(node_.runs(), ElementsAre("ADD b blue"));
}

// 05, 4: row 47
TEST_F(HotplugController, ComparesAContainerWhenItsAddHasEnded) {
  start();
  create();
  annotate("a@net1");

  controller_->container_changed(kDir, "c1");
  settle();

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
}

// 05, 4: row 25
TEST_F(HotplugController, KeepsTheNamesThatItGaveOverARestart) {
  annotate("a");
  create();
  start();
  edit("a,b,c");
  EXPECT_THAT(attached(), ElementsAre("eth0 cluster", "net1 ns1/a", "net2 ns1/b", "net3 ns1/c"));
  end();
  forget();

  start();
  edit("c,b");

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1"));
  EXPECT_THAT(attached(), ElementsAre("eth0 cluster", "net2 ns1/b", "net3 ns1/c"));
}

// 05, 3.2. An older libcni did not record it.
TEST_F(HotplugController, SaysThatAContainerOfUnknownNamespaceCannotBeChanged) {
  annotate("a@net1");
  create();
  node_.records.records.clear();
  for (auto& [name, entry] : node_.records.results) entry.netns.clear();
  start();

  edit("b@net1");
  edit("c@net1");

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(node_.source.events, SizeIs(2));  // none for what it found
  EXPECT_THAT(node_.source.events, Each(HasSubstr("Warning HotplugUnavailable")));
}

// 05, 4: rows 49 and 50
TEST_F(HotplugController, FinishesWhatAKilledDaemonLeftHalfDone) {
  annotate("a@net1,b@net2");
  create();
  auto half = record();
  half.find("net1")->state = model::AttachmentState::kAdding;
  half.find("net1")->source = model::Source::kHotplug;
  half.find("net2")->state = model::AttachmentState::kRemoving;
  node_.records.records["c1"] = model::encode_record(half);
  annotate("a@net1");

  start();

  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net2", "DEL a net1", "ADD a net1"));
  EXPECT_THAT(status(), ElementsAre("cluster eth0", "ns1/a net1"));
}

// 05, 4: row 53
TEST_F(HotplugController, AddsNothingToContainersOfAnotherBoot) {
  create();
  auto old = record();
  old.boot_id = "boot0";
  node_.records.records["c1"] = model::encode_record(old);
  annotate("a@net1");

  start();

  EXPECT_THAT(node_.runs(), IsEmpty());
}

// 05, 4: row 54
TEST_F(HotplugController, AddsNothingWhereTheNamespaceIsGoneOrAnother) {
  create();
  start();
  node_.links.inodes["/ns"] = 77;
  auto known = record();
  known.netns_inode = 5;
  node_.records.records["c1"] = model::encode_record(known);
  edit("a@net1");
  node_.links.namespaces.clear();
  edit("b@net1");

  EXPECT_THAT(node_.runs(), IsEmpty());
}

// 05, 4: row 55
TEST_F(HotplugController, CountsTheNewestLivingContainerOfAPod) {
  create();
  auto second = record();
  second.container_id = "c2";
  second.netns = "/ns2";
  second.attachments.front().added_at = "9999-01-01T00:00:00Z";
  node_.records.records["c2"] = model::encode_record(second);
  node_.links.namespaces["/ns2"] = {"eth0"};
  start();

  edit("a@net1");
  EXPECT_THAT(node_.links.namespaces["/ns2"], Contains("net1"));
  EXPECT_THAT(node_.links.namespaces["/ns"], Not(Contains("net1")));

  node_.links.namespaces.erase("/ns2");
  edit("a@net1,b@net2");
  EXPECT_THAT(node_.links.namespaces["/ns"], Contains("net2"));
}

// 05, 4: row 56
TEST_F(HotplugController, FindsStaticPodsByName) {
  create();
  auto known = record();
  known.is_static = true;
  known.pod_uid = "of-the-kubelet";
  known.cni_args = {{"K8S_POD_NAMESPACE", "ns1"}, {"K8S_POD_NAME", "p1"}};
  node_.records.records["c1"] = model::encode_record(known);
  change([](model::PodObject& pod) { pod.is_static = true; });
  start();

  edit("a@net1");

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
}

// 05, 4: row 57
TEST_F(HotplugController, MakesUpTheRecordOfWhatAnotherMultusMade) {
  annotate("a@net1");
  create();
  node_.records.records.clear();

  start();
  edit("");

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1"));
}

// 05, 4: row 57
TEST_F(HotplugController, LeavesTheNodesNetworksAloneWhenItMakesUpARecord) {
  annotate("a@net9");
  const auto added = aio::run(loop_, with_source_.add(request(delegates({"cluster", "b"}))));
  ASSERT_TRUE(added.has_value()) << added.error().text();
  forget();
  node_.records.records.clear();
  start();

  edit("");

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net9"));
  EXPECT_THAT(attached(), ElementsAre("eth0 cluster", "net1 b"));
}

// The scratch file and the result cache do not say what the pod asked for in words.
TEST_F(HotplugController, TakesTheAttributesOfAMadeUpRecordForThoseOfTheAnnotation) {
  settings_.replaces_on_change = true;
  const std::string wished =
      R"([{"name":"a","interface":"net1","cni-args":{"x":"y"},"bandwidth":{"ingressRate":9000}}])";
  annotate(wished);
  create();
  node_.records.records.clear();
  start();
  pass_time(1s);
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(node_.source.events, IsEmpty());

  edit(
      R"([{"name":"a","interface":"net1","cni-args":{"x":"z"},"bandwidth":{"ingressRate":9000}}])");
  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1", "ADD a net1"));
}

// 05, 4: row 58
TEST_F(HotplugController, MakesUpADamagedRecordAndRunsNothingForIt) {
  annotate("a@net1,b@net2");
  create();
  node_.records.damaged_records.insert("c1");

  start();
  pass_time(1s);
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_TRUE(logged("damaged record"));

  edit("b@net2");
  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1"));
}

// 05, 4: row 58. An error says nothing about the record, least of all that there is none.
TEST_F(HotplugController, RunsNothingAsLongAsARecordCannotBeRead) {
  annotate("a@net1");
  create();
  annotate("b@net1");
  node_.records.find_record_error = Error::from_errno(EIO, "read c1.json");

  start();
  for (const auto pause : {1100ms, 2100ms, 4100ms}) pass_time(pause);
  edit("c@net1");
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_FALSE(has_written_status());
  const auto told = count_logged("container c1 cannot be compared with its pod");
  EXPECT_GE(told, 4);  // backs off: 1 s, 2 s, 4 s
  EXPECT_LE(told, 5);

  node_.records.find_record_error.reset();
  pass_time(10s);
  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1", "ADD c net1"));
}

TEST_F(HotplugController, ReadsTheRecordOfANewContainerAgainIfItCouldNot) {
  start();
  create();
  annotate("a@net1");
  node_.records.find_record_error = Error::from_errno(EMFILE, "open c1.json");
  controller_->container_changed(kDir, "c1");
  settle();
  EXPECT_THAT(node_.runs(), IsEmpty());

  node_.records.find_record_error.reset();
  pass_time(2s);

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
}

// Not only at the next comparison of all pods, which may be turned off.
TEST_F(HotplugController, ListsRecordsAgainSoonWhereItCouldNot) {
  settings_.resync = 0ms;
  create();
  node_.records.records.clear();
  annotate("a@net1");
  node_.records.list_error = Error::from_errno(EMFILE, "open results");
  start();
  for (const auto pause : {1100ms, 2100ms, 4100ms}) pass_time(pause);
  EXPECT_THAT(node_.runs(), IsEmpty());
  const auto told = count_logged("cannot list the records below");
  EXPECT_GE(told, 3);  // backs off: 1 s, 2 s, 4 s
  EXPECT_LE(told, 4);

  node_.records.list_error.reset();
  pass_time(10s);

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
}

// Another multus made it: nothing but the result cache knows of it.
TEST_F(HotplugController, ForgetsNoContainerWhoseResultsCannotBeRead) {
  settings_.resync = 0ms;
  annotate("a@net1");
  create();
  node_.records.records.clear();
  for (const auto& [name, entry] : node_.records.results) {
    node_.records.result_errors.emplace(name, Error::from_errno(EIO, cat("read ", name)));
  }
  start();
  pass_time(1100ms);
  edit("a@net1,b@net2");
  EXPECT_THAT(node_.runs(), IsEmpty());

  node_.records.result_errors.clear();
  pass_time(10s);

  EXPECT_THAT(node_.runs(), ElementsAre("ADD b net2"));
}

TEST_F(HotplugController, ForgetsAContainerThatIsNotRecordedAnyMore) {
  annotate("a@net1");
  create();
  start();
  EXPECT_EQ(controller_->counts().wanted, 1);

  node_.records.records.clear();
  node_.records.scratch.clear();
  node_.records.results.clear();
  pass_time(601s);

  EXPECT_EQ(controller_->counts().wanted, 0);
  EXPECT_THAT(node_.runs(), IsEmpty());
}

}  // namespace
}  // namespace mnet::hotplug
