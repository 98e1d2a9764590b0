// What the controller makes of an edit: attached, removed, attached anew, refused.
#include "hotplug/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "aio/run.h"
#include "hotplug/controller_fixture.h"
#include "hotplug/hotplug_fixture.h"
#include "json/json.h"
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

// 05, 4: rows 17 and 18
TEST_F(HotplugController, AttachesWhatAnEditNames) {
  create();
  start();

  edit("a@net1");

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1"));
  EXPECT_THAT(attached(), ElementsAre("eth0 cluster", "net1 ns1/a"));
  EXPECT_THAT(status(), ElementsAre("cluster eth0", "ns1/a net1"));
  EXPECT_THAT(node_.source.events,
              ElementsAre("Normal AddedInterface: Add net1 [10.0.0.2/24] from ns1/a"));
  EXPECT_EQ(record().find("net1")->source, model::Source::kHotplug);
  EXPECT_NE(record().find("net1")->link_index, 0);
}

// 05, 4: rows 19 and 20
TEST_F(HotplugController, RemovesWhatIsNoLongerNamed) {
  annotate("a,b");
  create();
  start();

  edit("b");
  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1"));
  EXPECT_THAT(status(), ElementsAre("cluster eth0", "ns1/b net2"));
  EXPECT_THAT(node_.source.events, ElementsAre("Normal RemovedInterface: Remove net1 from ns1/a"));

  edit("");
  EXPECT_THAT(attached(), ElementsAre("eth0 cluster"));
  EXPECT_THAT(status(), ElementsAre("cluster eth0"));
}

// 05, 4: row 22
TEST_F(HotplugController, ReplacesTheNetworkBehindAName) {
  annotate("a@net1");
  create();
  start();

  edit("b@net1");

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1", "ADD b net1"));
  EXPECT_THAT(status(), ElementsAre("cluster eth0", "ns1/b net1"));
}

// 05, 4: row 51
TEST_F(HotplugController, RunsAndWritesNothingWhereNothingDiffers) {
  annotate("a,b@blue");
  create();
  start();
  end();
  forget();

  const int listings = node_.records.listings;

  start();
  pass_time(1s);

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_FALSE(has_written_status());
  EXPECT_THAT(node_.source.events, IsEmpty());
  EXPECT_EQ(node_.records.listings, listings) << "every container has a record";
}

// 05, 4: row 21
TEST_F(HotplugController, ChangesNothingForAnAnnotationThatCannotBeRead) {
  annotate("a");
  create();
  start();

  edit("[{");
  edit("[{ ");
  edit("[{");

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(node_.source.events, SizeIs(2));  // once for each text
  EXPECT_THAT(node_.source.events, Each(HasSubstr("Warning InvalidNetworksAnnotation")));
}

// 05, 4: row 31
TEST_F(HotplugController, ChangesNothingIfOneNameCannotBeThatOfAnInterface) {
  annotate("a");
  create();
  start();

  edit(R"([{"name":"b","interface":"sixteen-bytes-xx"},{"name":"c"}])");

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(node_.source.events, ElementsAre(HasSubstr("Warning InvalidNetworksAnnotation")));
}

// 05, 4: row 28
TEST_F(HotplugController, TellsOfChangedAttributesOnceForEachValue) {
  annotate(R"([{"name":"a","interface":"net1"}])");
  create();
  start();

  edit(R"([{"name":"a","interface":"net1","ips":["10.0.0.7/24"]}])");
  edit(R"([{"name":"a","interface":"net1","ips":["10.0.0.7/24"]},{"name":"b"}])");
  EXPECT_THAT(node_.runs(), ElementsAre("ADD b net2"));
  EXPECT_THAT(node_.source.events, ElementsAre(HasSubstr("Warning InterfaceChangeIgnored: net1"),
                                               HasSubstr("AddedInterface")));

  edit(R"([{"name":"a","interface":"net1","ips":["10.0.0.8/24"]},{"name":"b"}])");
  EXPECT_THAT(node_.source.events, SizeIs(3));
  EXPECT_THAT(node_.runs(), SizeIs(1));
}

// 05, 4: row 28
TEST_F(HotplugController, AttachesAnewWhatHasOtherAttributesIfToldTo) {
  settings_.replaces_on_change = true;
  annotate(R"([{"name":"a"}])");
  create();
  start();

  edit(R"([{"name":"a","mac":"02:00:00:00:00:07"}])");

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1", "ADD a net1"));
  edit(R"([{"name":"a","mac":"02:00:00:00:00:07","interface":"net1"}])");
  EXPECT_THAT(node_.runs(), SizeIs(2));
}

// 05, 4: row 44
TEST_F(HotplugController, ShowsAllInterfacesOfAResultAndTakesAllOfThemAway) {
  create();
  start();
  node_.plugins.answers["ADD a"] =
      R"({"cniVersion":"1.0.0","interfaces":[{"name":"host"},{"name":"net1","sandbox":"/ns"},)"
      R"({"name":"net1b","sandbox":"/ns"}]})";

  edit("a@net1");
  EXPECT_THAT(status(), ElementsAre("cluster eth0", "ns1/a net1", "ns1/a net1b"));
  edit("b@net1b,a@net1");
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1")) << "the name is not free";
  edit("");

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net1", "DEL a net1"));
  EXPECT_THAT(status(), ElementsAre("cluster eth0"));
}

// 05, 4: row 38
TEST_F(HotplugController, RemovesWithTheRecordedConfiguration) {
  annotate("a");
  create();
  start();
  node_.source.networks.clear();

  edit("");

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a net1"));
}

TEST_F(HotplugController, DoesNotApplyAChangedDefinitionByItself) {
  annotate("a");
  create();
  start();

  node_.source.add_network("ns1", "a", R"({"cniVersion":"1.0.0","name":"other","type":"fake"})");
  controller_->network_changed("ns1/a");
  pass_time(1s);

  EXPECT_THAT(node_.runs(), IsEmpty());
}

// 05, 4: row 43
TEST_F(HotplugController, LeavesEntriesOfOthersInTheStatus) {
  annotate("a@net1");
  create();
  start();
  node_.source.statuses["ns1/p1"] =
      R"([{"name":"cluster","interface":"eth0","default":true},{"name":"x","interface":"y"},)"
      R"({"name":"ns1/a","interface":"net1"}])";

  edit("b@net2");

  EXPECT_THAT(status(), ElementsAre("cluster eth0", "x y", "ns1/b net2"));
}

// 05, 4: row 45
TEST_F(HotplugController, StartsNothingForPodsThatEnd) {
  create();
  start();
  change([](model::PodObject& pod) { pod.is_being_deleted = true; });
  edit("a@net1");
  EXPECT_THAT(node_.runs(), IsEmpty());

  change([](model::PodObject& pod) {
    pod.is_being_deleted = false;
    pod.phase = model::PodPhase::kEnded;
  });
  edit("b@net1");
  EXPECT_THAT(node_.runs(), IsEmpty());

  change([](model::PodObject& pod) { pod.phase = model::PodPhase::kPending; });
  edit("c@net1");
  EXPECT_THAT(node_.runs(), ElementsAre("ADD c net1"));
}

// 05, 4: row 30
TEST_F(HotplugController, TellsPodsOfTheHostsNetworkOnceForEachAnnotation) {
  start();
  change([](model::PodObject& pod) { pod.is_in_host_network = true; });
  annotate("a");
  for (int i = 0; i < 5; ++i) annotate("a");

  EXPECT_THAT(node_.source.events, SizeIs(1));
  EXPECT_THAT(node_.runs(), IsEmpty());
}

TEST_F(HotplugController, IgnoresPodsOfNamespacesThatAreNotNamed) {
  settings_.namespaces = std::vector<std::string>{"other"};
  create();
  start();

  edit("a@net1");
  change([](model::PodObject& pod) { pod.is_in_host_network = true; });
  edit("b@net1");

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(node_.source.events, IsEmpty());
}

// 05, 4: rows 63 and 64
TEST_F(HotplugController, LeavesClientsAttachmentsAloneUntilAnElementNamesThem) {
  create();
  auto known = record();
  model::RecordedAttachment client = known.attachments.front();
  client.source = model::Source::kDelegateApi;
  client.network = client.cni_name = "a";
  client.ifname = "net1";
  client.result =
      json::parse(R"({"cniVersion":"1.0.0","interfaces":[{"name":"net1","sandbox":"/ns"}]})")
          .value();
  known.attachments.push_back(client);
  node_.records.records["c1"] = model::encode_record(known);
  start();

  edit("b@net2");
  edit("");
  EXPECT_NE(record().find("net1"), nullptr);

  edit("a@net1");
  EXPECT_EQ(record().find("net1")->source, model::Source::kHotplug);
  edit("c@net3,a@net1");  // it is the pod's own from now on
  EXPECT_THAT(node_.runs(), ElementsAre("ADD b net2", "DEL b net2", "ADD c net3"));
  EXPECT_THAT(attached(), ElementsAre("eth0 cluster", "net1 ns1/a", "net3 ns1/c"));
  EXPECT_THAT(status(), ElementsAre("cluster eth0", "ns1/a net1", "ns1/c net3"));

  edit("");
  EXPECT_EQ(record().find("net1"), nullptr);
}

// 05, 4: row 32
TEST_F(HotplugController, ChecksNamespaceIsolation) {
  hotplug_node_.settings = R"({"namespaceIsolation":true})";
  node_.source.add_network("other", "x", R"({"cniVersion":"1.0.0","name":"x","type":"fake"})");
  create();
  start();

  edit("other/x@net1,a@net2");

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a net2"));
  EXPECT_THAT(node_.source.events,
              Contains(HasSubstr("Warning InterfaceAddRejected: Will not add")));
}

// 05, 4: row 40
TEST_F(HotplugController, GivesADeviceThatNoOtherNetworkHas) {
  node_.devices.ids = {{"r", {"d1", "d2"}}};
  for (const char* name : {"v", "w", "x"}) add_device_network(name, "r");
  annotate("v@net1");
  create();
  start();

  edit("v@net1,w@net2,x@net3");

  EXPECT_THAT(node_.runs(), ElementsAre("ADD w net2"));
  EXPECT_EQ(device_given("w"), "d2");
  EXPECT_EQ(record().find("net2")->device_id, "d2");
  EXPECT_EQ(record().find("net3"), nullptr);
  EXPECT_THAT(
      node_.source.events,
      ElementsAre(HasSubstr("AddedInterface"),
                  HasSubstr("Warning InterfaceAddRejected: Failed to add net3 from ns1/x")));
}

// 05, 4: row 40
TEST_F(HotplugController, GivesTheDeviceOfWhatGoesToWhatComes) {
  node_.devices.ids = {{"r", {"d1"}}};
  for (const char* name : {"v", "w"}) add_device_network(name, "r");
  annotate("v@net1");
  create();
  start();

  edit("w@net1");

  EXPECT_THAT(node_.runs(), ElementsAre("DEL v net1", "ADD w net1"));
  EXPECT_EQ(device_given("w"), "d1");
  EXPECT_THAT(node_.source.events, Each(Not(HasSubstr("Warning"))));
}

// 05, 4: row 40
TEST_F(HotplugController, NeedsNoDeviceOfAResourceThatIsNone) {
  add_device_network("marked", "bridge.network.kubevirt.io/br1");
  create();
  start();

  edit("marked@net1");

  EXPECT_THAT(node_.runs(), ElementsAre("ADD marked net1"));
  EXPECT_EQ(device_given("marked"), "");
  EXPECT_EQ(record().find("net1")->device_id, "");
}

// Once, as every failure that repeats itself, and not by the search for the device, too.
TEST_F(HotplugController, TellsOnceOfADeviceThatIsNotThePodsToChoose) {
  create();
  start();

  edit(R"([{"name":"a","interface":"net1","deviceID":"0000:05:00.1"}])");
  for (const auto pause : {1100ms, 2100ms, 4100ms}) pass_time(pause);

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(node_.source.events, ElementsAre(HasSubstr("Warning InterfaceAddRejected: Failed to "
                                                         "add net1 from ns1/a")));
}

// 05, 4: row 39
TEST_F(HotplugController, AttachesANetworkOfAFile) {
  auto network = std::make_shared<model::NetworkDefinition>();
  network->ns = "ns1";
  network->name = "f";
  node_.source.networks["ns1/f"] = network;
  node_.networks.named["f"] = R"({"cniVersion":"1.0.0","name":"f","type":"fake"})";
  create();
  start();

  edit("f@net1");

  EXPECT_THAT(node_.runs(), ElementsAre("ADD f net1"));
}

TEST_F(HotplugController, RefusesClientsWhatTheNodeGivesToEveryPod) {  // R11
  create();
  auto known = record();
  known.attachments.push_back(known.attachments.front());
  known.attachments.back().source = model::Source::kDefaultNetworks;
  known.attachments.back().ifname = "net1";
  node_.records.records["c1"] = model::encode_record(known);
  RequestText what;
  what.request = request("");
  what.request.ifname = "net1";
  what.request.config = R"({"cniVersion":"1.0.0","name":"cluster","type":"fake"})";
  TextHotplug clients(with_source_, log_);

  const auto refused = aio::run(loop_, clients.del(what));

  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().text(), HasSubstr("gives to every pod"));
  EXPECT_THAT(node_.runs(), IsEmpty());
}

}  // namespace
}  // namespace mnet::hotplug
