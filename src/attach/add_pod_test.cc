// ADD for pods: who is attached, and what their owners get to see of it (02, 5).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/event.h"
#include "aio/group.h"
#include "aio/run.h"
#include "aio/task.h"
#include "attach/fake_ports.h"
#include "attach/node_fixture.h"
#include "attach/pod_fixture.h"
#include "attach/request_text.h"
#include "attach/source.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "chain/plugins.h"
#include "cni/args.h"
#include "cni/error.h"
#include "cni/result.h"
#include "cni/version.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/network_status.h"

namespace mnet::attach {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class AddPodTest : public PodTest {
 protected:
  void SetUp() override {
    define("x");
    define("y");
  }
  const std::string conf_ = delegates({"a"});
};

// 02, 12: row 106
TEST_F(AddPodTest, WritesOneStatusForAllNetworks) {
  add_pod("x@foo,y");

  ASSERT_TRUE(add(request(conf_)));

  EXPECT_EQ(status(),
            "[{\n    \"name\": \"a\",\n    \"interface\": \"eth0\",\n    \"ips\": [\n        "
            "\"10.0.0.2\"\n    ],\n    \"default\": true,\n    \"dns\": {}\n},{\n    \"name\": "
            "\"ns1/x\",\n    \"interface\": \"foo\",\n    \"ips\": [\n        \"10.0.0.2\"\n    "
            "],\n    \"dns\": {}\n},{\n    \"name\": \"ns1/y\",\n    \"interface\": \"net2\",\n    "
            "\"ips\": [\n        \"10.0.0.2\"\n    ],\n    \"dns\": {}\n}]");
  EXPECT_EQ(std::ranges::count(node_.calls, "write status ns1/p1"), 1);
}

// 02, 12: row 68
TEST_F(AddPodTest, CountsPlacesInTheListForNames) {
  node_.networks.configs["/n/c.conf"] = R"({"name":"c","type":"fake"})";
  node_.networks.configs["/n/d.conf"] = R"({"name":"d","type":"fake"})";
  add_pod("x@foo,y");

  ASSERT_TRUE(add(request(R"("clusterNetwork":"/n/c.conf","defaultNetworks":["/n/d.conf"])")));

  EXPECT_THAT(node_.runs(), ElementsAre("ADD c eth0", "ADD d net1", "ADD x foo", "ADD y net3"));
}

// 02, 12: row 69
TEST_F(AddPodTest, RefusesANameThatTwoNetworksWouldHave) {
  add_pod("x@net2,y");

  auto result = add(request(conf_));

  EXPECT_THAT(result.error().text(), HasSubstr("net2"));
  EXPECT_THAT(node_.calls, IsEmpty());
}

// 02, 12: row 111
TEST_F(AddPodTest, SendsOneEventForAllInterfacesInTheOrderOfTheList) {
  add_pod("x,y");
  node_.plugins.answers["ADD x"] =
      R"({"cniVersion":"1.0.0","interfaces":[{"name":"net1","sandbox":"/ns"}],)"
      R"("ips":[{"address":"10.0.0.2/24"},{"address":"fd00::2/64"}]})";
  node_.plugins.answers["ADD y"] =
      R"({"cniVersion":"1.0.0","interfaces":[{"name":"net2","sandbox":"/ns"}]})";

  ASSERT_TRUE(add(request(conf_)));

  EXPECT_THAT(node_.source.events,
              ElementsAre("Normal AddedInterface: Add eth0 [10.0.0.2/24] from a; "
                          "Add net1 [10.0.0.2/24 fd00::2/64] from ns1/x; Add net2 [] from ns1/y"));
}

// 02, 5.6: an event has 1 KiB
TEST_F(AddPodTest, SaysHowManyInterfacesDoNotFitIntoTheEvent) {
  std::vector<std::string> all;
  for (int i = 0; i < 40; ++i) {
    all.push_back(cat("network-with-a-long-name-", i));
    define(all.back());
  }
  add_pod(join(all, ","));

  ASSERT_TRUE(add(request(conf_)));

  ASSERT_EQ(node_.source.events.size(), 1u);
  const std::string message = node_.source.events[0].substr(sizeof("Normal AddedInterface: ") - 1);
  EXPECT_LE(message.size(), kMostOfEvent);
  EXPECT_THAT(message, testing::MatchesRegex("Add eth0 .*; and [0-9]+ more"));
  std::size_t told = 0;
  for (std::size_t at = 0; (at = message.find("Add ", at)) != std::string::npos; ++at) ++told;
  EXPECT_THAT(message, testing::EndsWith(cat("; and ", 41 - told, " more")));
}

// What is rolled back counts as never added.
TEST_F(AddPodTest, SendsNoEventOfInterfacesThatAreRolledBack) {
  add_pod("x");
  node_.plugins.errors.emplace("ADD x", Error(Errc::kPlugin, "no"));

  ASSERT_FALSE(add(request(conf_)));

  EXPECT_THAT(node_.source.events, IsEmpty());
}

// 02, 12: row 112
TEST_F(AddPodTest, SaysNothingOfAnEmptyResult) {
  add_pod("x");
  node_.plugins.answers["ADD x"] = R"({"cniVersion":"1.0.0"})";

  ASSERT_TRUE(add(request(conf_)));

  EXPECT_EQ(node_.source.events.size(), 1u);
  EXPECT_THAT(status(), Not(HasSubstr("ns1/x")));
}

// 02, 12: row 112, for all networks of a pod
TEST_F(AddPodTest, WritesNoStatusIfThereIsNothingToSay) {
  add_pod("");
  node_.plugins.answers["ADD a"] = R"({"cniVersion":"1.0.0"})";

  ASSERT_TRUE(add(request(conf_)));

  EXPECT_THAT(node_.calls, Not(Contains("write status ns1/p1")));
}

// 02, 12: row 107
TEST_F(AddPodTest, TellsTheInterfacesOfOneResultApart) {
  add_pod("");
  node_.plugins.answers["ADD a"] =
      R"({"cniVersion":"1.0.0","interfaces":[{"name":"veth1"},{"name":"eth0","sandbox":"/ns"},)"
      R"({"name":"eth1","sandbox":"/ns"}],"ips":[{"address":"10.0.0.2/24","interface":2,)"
      R"("gateway":"10.0.0.1"}]})";
  node_.plugins.on_run = [&](const chain::PluginRun&) {
    node_.links.namespaces["/ns"] = {"eth0", "eth1"};
  };

  ASSERT_TRUE(add(request(conf_)));

  const auto statuses = json::parse(status()).value();
  ASSERT_EQ(statuses.as_array()->size(), 2u);
  EXPECT_EQ((*statuses.as_array())[0].as_object()->find("default"), nullptr);
  EXPECT_NE((*statuses.as_array())[1].as_object()->find("default"), nullptr);
}

// 02, 2.4: what the API server would refuse is not sent, and the pod is told
TEST_F(AddPodTest, ShortensAStatusThatIsTooLarge) {
  add_pod("");
  node_.plugins.answers["ADD a"] =
      cat(R"({"cniVersion":"1.0.0","interfaces":[{"name":"eth0","sandbox":"/ns"},)"
          R"({"name":"eth1","sandbox":"/ns"}],"dns":{"domain":")",
          std::string(150'000, 'd'), R"("}})");
  node_.plugins.on_run = [&](const chain::PluginRun&) {
    node_.links.namespaces["/ns"] = {"eth0", "eth1"};
  };

  ASSERT_TRUE(add(request(conf_)));

  EXPECT_LE(status().size(), model::kMaxStatusText);
  EXPECT_THAT(node_.source.events,
              Contains(HasSubstr("NetworkStatusTooLarge: the network status would exceed 196608 "
                                 "bytes: 1 entries lack dns, device-info and gateway")));
}

// 02, 12: row 105: the source refuses to write to a pod that was replaced
TEST_F(AddPodTest, RollsEverythingBackIfTheStatusCannotBeWritten) {
  add_pod("x");
  node_.source.status_error = Error(Errc::kConflict, "the pod was replaced");

  auto result = add(request(conf_));

  EXPECT_EQ(result.error().text(),
            "Multus: [ns1/p1/u1]: error setting the networks status: the pod was replaced");
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "ADD x net1", "DEL x net1", "DEL a eth0"));
  EXPECT_TRUE(node_.records.scratch.contains("c1"));
  EXPECT_EQ(record().state, model::RecordState::kCreating);
}

// 02, 12: row 113; 03, 12: row 48
TEST_F(AddPodTest, AnswersForAPodThatIsGoneInEveryVersionAndAttachesNothing) {
  for (const std::string version : {"", "0.2.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"}) {
    RequestText what = request(conf_);
    what.config = cat(R"({"cniVersion":")", version, R"(",)", conf_, "}");

    auto result = add(what);

    ASSERT_TRUE(result) << result.error().text();
    EXPECT_EQ(result->version, version.empty() ? "0.1.0" : version);
    const std::string text = json::dump(cni::to_json(*result));
    EXPECT_THAT(text, HasSubstr("0.0.0.0/0")) << version;
    const bool lists = cni::at_least(version, {0, 3, 0});
    if (lists) EXPECT_THAT(text, HasSubstr(R"("sandbox":"/ns")")) << version;
    EXPECT_EQ(text.contains(R"("version":"4")"), lists && version[0] == '0') << version;
    EXPECT_TRUE(cni::read_result(cni::to_json(*result), version)) << version;
  }
  EXPECT_THAT(node_.calls, IsEmpty());
  EXPECT_THAT(node_.source.events, IsEmpty());
  EXPECT_THAT(node_.records.scratch, IsEmpty());
}

TEST_F(AddPodTest, WaitsForThePodAsLongAsTheConfigurationSays) {
  ASSERT_TRUE(add(request(R"("podLookupTimeout":0.25,)" + conf_)));

  ASSERT_EQ(node_.source.lookups.size(), 1u);
  EXPECT_EQ(node_.source.lookups[0].wait, std::chrono::milliseconds(250));
  EXPECT_EQ(node_.source.lookups[0].uid, "u1");
}

// 00-index, "Folder of manifests"
TEST_F(AddPodTest, TreatsAPodInNoFileAsOneWithoutAnnotations) {
  node_.source.complete = false;

  ASSERT_TRUE(add(request(conf_)));

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0"));
  EXPECT_THAT(node_.source.events, IsEmpty());
  EXPECT_THAT(node_.source.statuses, IsEmpty());
}

// 00-index, on requests of containers that are not pods
TEST_F(AddPodTest, AsksNobodyAboutAContainerThatNamesNoPod) {
  for (const std::string args : {"", "IgnoreUnknown=1;K8S_POD_NAME=p1"}) {
    RequestText what = request(conf_);
    what.args = args;

    ASSERT_TRUE(add(what)) << args;
    ASSERT_TRUE(del(what)) << args;
  }
  EXPECT_THAT(node_.source.lookups, IsEmpty());
  EXPECT_THAT(node_.source.events, IsEmpty());
  EXPECT_THAT(node_.source.statuses, IsEmpty());
}

TEST_F(AddPodTest, FailsIfTheSourceCannotTell) {
  node_.source.pod_error = Error(Errc::kUnavailable, "error waiting for pod: refused");

  EXPECT_EQ(add(request(conf_)).error().text(),
            "Multus: [ns1/p1/u1]: error waiting for pod: refused");
  EXPECT_THAT(node_.calls, IsEmpty());
}

// 02, 9: the UID is the object's
TEST_F(AddPodTest, NamesThePodsUidInItsLines) {
  add_pod("x");
  RequestText what = request(conf_);
  what.args = "IgnoreUnknown=1;K8S_POD_NAMESPACE=ns1;K8S_POD_NAME=p1";

  ASSERT_TRUE(add(what));

  EXPECT_TRUE(logged(R"([verbose] Add: ns1:p1:u1:ns1/x(x):net1 {"cniVersion":"1.0.0",)"));
}

// 02, 12: row 72
TEST_F(AddPodTest, OffersWishesByCapabilityAndAddressesAsArgumentsToo) {
  define("open", "bridge",
         R"(,"capabilities":{"mac":true,"ips":true,"bandwidth":true,"portMappings":true})");
  const std::string selection =
      R"("mac":"c2:11:22:33:44:55","ips":["10.1.1.9/24"],)"
      R"("bandwidth":{"ingressRate":1,"ingressBurst":2,"egressRate":3,"egressBurst":4},)"
      R"("portMappings":[{"hostPort":80,"containerPort":8080}])";
  add_pod(cat(R"([{"name":"open",)", selection, R"(},{"name":"x",)", selection, "}]"));

  ASSERT_TRUE(add(request(R"("parallelAttach":"off",)" + conf_)));

  const json::Object offered = *node_.plugins.config(1).find("runtimeConfig")->as_object();
  for (const char* key : {"mac", "ips", "bandwidth", "portMappings"}) {
    EXPECT_NE(offered.find(key), nullptr) << key;
  }
  EXPECT_EQ(node_.plugins.config(2).find("runtimeConfig"), nullptr);
  for (const std::size_t run : {1u, 2u}) {
    EXPECT_THAT(cni::args_text(node_.plugins.runs[run].args),
                HasSubstr("MAC=c2:11:22:33:44:55;IP=10.1.1.9/24"));
  }
}

// 02, 12: row 124
TEST_F(AddPodTest, WithoutARecordADelAsksOnceAndNotForLong) {
  const RequestText by_name = request(R"("clusterNetwork":"m")");
  ASSERT_TRUE(del(by_name));
  add_pod("x");
  ASSERT_TRUE(del(by_name));
  ASSERT_TRUE(del(request(conf_)));

  ASSERT_EQ(node_.source.lookups.size(), 3u);
  for (const PodLookup& lookup : node_.source.lookups) EXPECT_TRUE(lookup.once);
  EXPECT_THAT(node_.source.asked, testing::Contains("kube-system/m"));
  EXPECT_THAT(node_.source.asked, testing::Contains("ns1/x"));
  EXPECT_FALSE(node_.source.deadlines.contains(aio::kNoDeadline));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL x net1", "DEL x net1", "DEL a eth0"));
}

// 02, 12: row 159
TEST_F(AddPodTest, GivesTheMasterTheWishesOfTheDefaultNetworkAnnotation) {
  node_.source.add_pod("ns1", "p1",
                       {{"v1.multus-cni.io/default-network",
                         R"([{"name":"m","namespace":"ns1","mac":"c2:11:22:33:44:55",)"
                         R"("ips":["10.1.1.9/24"]}])"}});
  define("m", "bridge", R"(,"capabilities":{"mac":true,"ips":true})");

  ASSERT_TRUE(add(request(conf_)));
  ASSERT_TRUE(del(request(conf_)));

  const json::Value offered =
      json::parse(R"({"ips":["10.1.1.9/24"],"mac":"c2:11:22:33:44:55"})").value();
  EXPECT_THAT(node_.runs(), ElementsAre("ADD m eth0", "DEL m eth0"));
  EXPECT_EQ(*node_.plugins.config(0).find("runtimeConfig"), offered);
  EXPECT_EQ(*node_.plugins.config(1).find("runtimeConfig"), offered);
}

// 02, 12: row 162
TEST_F(AddPodTest, DropsIncompleteElementsOfAResult) {
  add_pod("");
  node_.plugins.answers["ADD a"] =
      R"({"cniVersion":"1.0.0","interfaces":[{"name":"eth0","sandbox":"/ns"}],)"
      R"("ips":[{"gateway":"10.0.0.1"},{"address":"10.0.0.2/24"}],"routes":[{"gw":"10.0.0.1"}]})";

  auto result = add(request(conf_));

  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->ips.size(), 1u);
  EXPECT_THAT(result->routes, IsEmpty());
  EXPECT_TRUE(logged("warning: result of fake: "));
}

class DeviceInfoTest : public AddPodTest {
 protected:
  static constexpr const char* kFile = "/var/run/k8s.cni.cncf.io/devinfo/cni/ns1-d-c1_net1";
  void SetUp() override {
    node_.source.add_network("ns1", "d",
                             R"({"cniVersion":"1.0.0","name":"d","type":"sriov",)"
                             R"("capabilities":{"deviceID":true,"CNIDeviceInfoFile":true}})",
                             "intel.com/vf");
    node_.devices.ids["intel.com/vf"] = {"0000:01"};
    node_.devices.known.insert("intel.com/vf");
    add_pod("d");
  }
};

// 02, 12: row 83
TEST_F(DeviceInfoTest, IsCopiedReportedAndRemoved) {
  node_.device_infos.of_plugins[{"intel.com/vf", "0000:01"}] = json::Object{{"type", "pci"}};
  node_.device_infos.files[kFile] = json::Object{{"type", "vdpa"}};

  ASSERT_TRUE(add(request(conf_)));
  EXPECT_THAT(status(), HasSubstr("\"device-info\": {\n        \"type\": \"pci\"\n    }"));
  const json::Object offered = *node_.plugins.config(1).find("runtimeConfig")->as_object();
  EXPECT_EQ(*offered.find("CNIDeviceInfoFile"), json::Value(kFile));

  ASSERT_TRUE(del(request(conf_)));
  EXPECT_THAT(node_.device_infos.files, IsEmpty());
}

// 02, 12: row 84
TEST_F(DeviceInfoTest, NeverFailsAnAdd) {
  node_.device_infos.error = Error(Errc::kInvalid, "not JSON");

  ASSERT_TRUE(add(request(conf_)));

  EXPECT_THAT(status(), Not(HasSubstr("device-info")));
  EXPECT_TRUE(logged("not JSON"));
}

TEST_F(DeviceInfoTest, GoesWithARollback) {
  node_.device_infos.of_plugins[{"intel.com/vf", "0000:01"}] = json::Object{{"type", "pci"}};
  node_.plugins.errors.emplace("ADD d", Error(Errc::kPlugin, "no"));

  ASSERT_FALSE(add(request(conf_)));

  EXPECT_THAT(node_.device_infos.files, IsEmpty());
}

// 02, 12: row 82
TEST_F(DeviceInfoTest, IsOfferedForADeviceThatOnlyTheElementNames) {
  define("e", "sriov", R"(,"capabilities":{"deviceID":true,"CNIDeviceInfoFile":true})");
  add_pod(R"([{"name":"e","deviceID":"0000:09"}])");
  node_.devices.ids["other.com/vf"] = {"0000:09"};

  ASSERT_TRUE(add(request(conf_)));

  const json::Object config = node_.plugins.config(1);
  EXPECT_EQ(config.find("deviceID"), nullptr);
  EXPECT_EQ(*config.find("runtimeConfig"),
            json::parse(R"({"CNIDeviceInfoFile":"/var/run/k8s.cni.cncf.io/devinfo/cni/)"
                        R"(ns1-e-c1_net1","deviceID":"0000:09"})")
                .value());
}

TEST_F(DeviceInfoTest, ThatTheRuntimeNamedElsewhereIsLeftAlone) {
  add_pod("");
  node_.device_infos.files["/run/other"] = json::Object{{"type", "pci"}};
  const std::string conf = R"("runtimeConfig":{"CNIDeviceInfoFile":"/run/other"},)" + conf_;

  ASSERT_TRUE(add(request(conf)));
  ASSERT_TRUE(del(request(conf)));

  EXPECT_TRUE(node_.device_infos.files.contains("/run/other"));
}

class AttachmentRecordTest : public AddPodTest {};

// 05, 3.2
TEST_F(AttachmentRecordTest, TellsOfEveryNetworkBeforeTheFirstPluginRuns) {
  add_pod("x");
  std::vector<model::AttachmentRecord> seen;
  node_.plugins.on_run = [&](const chain::PluginRun&) { seen.push_back(record()); };

  ASSERT_TRUE(add(request(conf_)));

  ASSERT_EQ(seen.size(), 2u);
  for (const model::AttachmentRecord& during : seen) {
    EXPECT_EQ(during.state, model::RecordState::kCreating);
    ASSERT_EQ(during.attachments.size(), 2u);
    EXPECT_EQ(during.attachments[0].state, model::AttachmentState::kAdding);
    EXPECT_EQ(during.attachments[1].state, model::AttachmentState::kAdding);
  }
}

// 05, 3.11
TEST_F(AttachmentRecordTest, IsReadyAfterTheStatusWasWritten) {
  add_pod(R"([{"name":"x","interface":"foo","ips":["10.1.1.9/24"]}])");
  node_.links.inodes["/ns"] = 4026532;

  ASSERT_TRUE(add(request(conf_)));

  const model::AttachmentRecord after = record();
  EXPECT_EQ(after.state, model::RecordState::kReady);
  EXPECT_EQ(after.netns_inode, 4026532u);
  EXPECT_EQ(after.boot_id, "boot-1");
  EXPECT_EQ(after.pod_uid, "u1");
  ASSERT_EQ(after.attachments.size(), 2u);
  EXPECT_EQ(after.attachments[0].source, model::Source::kCluster);
  EXPECT_TRUE(after.attachments[0].auto_name);
  const model::RecordedAttachment& x = after.attachments[1];
  EXPECT_EQ(x.source, model::Source::kAnnotation);
  EXPECT_EQ(x.network, "ns1/x");
  EXPECT_EQ(x.cni_name, "x");
  EXPECT_EQ(x.ifname, "foo");
  EXPECT_FALSE(x.auto_name);
  EXPECT_EQ(x.state, model::AttachmentState::kAttached);
  EXPECT_EQ(FakePlugins::text_in(x.config, "type"), "bridge");
  ASSERT_TRUE(x.result.has_value());
  EXPECT_NE(x.added_at, "");
  const auto at = [&](const std::string& line) {
    return std::ranges::find(node_.calls, line) - node_.calls.begin();
  };
  EXPECT_LT(at("write status ns1/p1"), at("sync results"));
}

// 05, 3.11: a disk and a server take milliseconds each.
TEST_F(AttachmentRecordTest, IsNotReadyButAllElseIsDurableWhileTheStatusIsOnItsWay) {
  add_pod("x");
  node_.source.status_gate = std::make_shared<aio::Event>();
  aio::Group group(loop_.get_executor(), log_);
  group.spawn("add", adding(request(conf_)));

  loop_.poll();

  EXPECT_EQ(node_.calls.back(), "sync results");
  EXPECT_THAT(node_.records.unsynced, IsEmpty());
  EXPECT_EQ(record().state, model::RecordState::kCreating);
  node_.source.status_gate->set();
  ASSERT_TRUE(aio::run(loop_, group.join()));
  EXPECT_EQ(record().state, model::RecordState::kReady);
}

TEST_F(AttachmentRecordTest, IsNotReadyIfTheStatusIsWrittenButTheResultsAreNotDurable) {
  add_pod("x");
  node_.records.errors.emplace("sync results", Error(Errc::kIo, "disk gone"));

  ASSERT_FALSE(add(request(conf_)));

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "ADD x net1", "DEL x net1", "DEL a eth0"));
  EXPECT_EQ(record().state, model::RecordState::kCreating);
}

TEST_F(AttachmentRecordTest, ThatTheMachineLacksTheMeansForIsTheRuntimesToRepeat) {
  add_pod("x");
  node_.records.record_error = Error::from_errno(EMFILE, "open c1.json");

  const auto added = add(request(conf_));

  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().text(), HasSubstr("open c1.json"));
}

TEST_F(AttachmentRecordTest, ThatCannotBeWrittenFailsNoAdd) {
  add_pod("x");
  node_.records.record_error = Error(Errc::kIo, "disk full");

  EXPECT_TRUE(add(request(conf_)));

  EXPECT_TRUE(node_.records.scratch.contains("c1"));
  EXPECT_THAT(node_.records.unsynced, IsEmpty());
  EXPECT_TRUE(logged("cannot write the attachment record: disk full"));
}

// 05, 3.11
class OwingAddTest : public AddPodTest {
 protected:
  Result<cni::NetResult> add_owing(const std::string& conf) {
    return aio::run(loop_, owing_.add(request(conf)));
  }

  TextAttachments owing_{node_.owing_ports(), log_, {.boot_id = "boot-1"}};
};

TEST_F(OwingAddTest, OwesTheStatusOfAPodThatAsksForNothingAndRecordsThat) {
  add_pod("");

  ASSERT_TRUE(add_owing(conf_));

  EXPECT_THAT(node_.calls, Not(Contains("write status ns1/p1")));
  EXPECT_EQ(record().state, model::RecordState::kReady);
  EXPECT_TRUE(record().status_owed);
  ASSERT_EQ(node_.owed.owed.size(), 1u);
  EXPECT_EQ(node_.owed.owed[0].container_id, "c1");
  EXPECT_EQ(node_.owed.owed[0].cni_dir, "/var/lib/cni/multus");
  EXPECT_THAT(node_.owed.owed[0].text, HasSubstr("\"interface\": \"eth0\""));
  EXPECT_THAT(node_.records.unsynced, IsEmpty());
}

TEST_F(OwingAddTest, WaitsForTheStatusOfAPodThatAsksForNetworks) {
  add_pod("x");

  ASSERT_TRUE(add_owing(conf_));

  EXPECT_THAT(status(), HasSubstr("ns1/x"));
  EXPECT_FALSE(record().status_owed);
  EXPECT_THAT(node_.owed.owed, IsEmpty());
  EXPECT_THAT(node_.calls, Contains("forget status of pod ns1/p1"));
}

TEST_F(OwingAddTest, WritesAStatusBeforeTheAnswerThatNoRecordWouldOwe) {
  add_pod("");
  node_.records.record_error = Error(Errc::kIo, "disk full");

  ASSERT_TRUE(add_owing(conf_));

  EXPECT_THAT(status(), HasSubstr("eth0"));
  EXPECT_THAT(node_.owed.owed, IsEmpty());
}

TEST_F(OwingAddTest, OwesNothingForAPodOfWhichThereIsNothingToSay) {
  add_pod("");
  node_.plugins.answers["ADD a"] = R"({"cniVersion":"1.0.0"})";

  ASSERT_TRUE(add_owing(conf_));

  EXPECT_FALSE(record().status_owed);
  EXPECT_THAT(node_.owed.owed, IsEmpty());
}

TEST_F(OwingAddTest, RepeatedAnswersAtOnceAndStillOwes) {
  add_pod("");
  ASSERT_TRUE(add_owing(conf_));
  node_.owed.owed.clear();
  node_.calls.clear();

  ASSERT_TRUE(add_owing(conf_));

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(node_.calls, Not(Contains("write status ns1/p1")));
  EXPECT_TRUE(record().status_owed);
  ASSERT_EQ(node_.owed.owed.size(), 1u);
  EXPECT_EQ(node_.owed.owed[0].container_id, "c1");
}

TEST_F(OwingAddTest, IsForgottenByADel) {
  add_pod("");
  ASSERT_TRUE(add_owing(conf_));

  ASSERT_TRUE(told(aio::run(loop_, owing_.del(request(conf_)))));

  EXPECT_THAT(node_.calls, Contains("forget status of c1"));
}

// From a definition's text to a plugin's stdin and to the records: what was resolved is what is run
// and remembered (02, 3 and 4).
class AddResolvedTest : public PodTest {
 protected:
  void define_text(const std::string& name, const std::string& text,
                   const std::string& resource_name = {}) {
    node_.source.add_network("ns1", name, text, resource_name);
  }
  static std::string member(const json::Object& object, std::string_view key) {
    const json::Value* value = object.find(key);
    return value == nullptr ? "absent" : json::dump(*value);
  }

  const std::string conf_ = delegates({"a"});
};

// 02, 12: row 53
TEST_F(AddResolvedTest, GivesThePluginTheDefinitionsName) {
  define_text("x", R"({"cniVersion":"1.0.0","type":"t"})");
  add_pod("x");

  ASSERT_TRUE(add(request(conf_)));

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "ADD x net1"));
  EXPECT_EQ(member(node_.plugins.config(1), "name"), "\"x\"");
}

// 02, 12: rows 55, 78
TEST_F(AddResolvedTest, GivesThePluginItsDeviceAndEveryNumberAsItWas) {
  define_text("x", R"({"cniVersion":"1.0.0","type":"t","i":9223372036854775807})", "r/vf");
  node_.devices.ids["r/vf"] = {"0000:00:00.1", "0000:00:00.2"};
  add_pod("x");

  ASSERT_TRUE(add(request(conf_)));

  const json::Object config = node_.plugins.config(1);
  EXPECT_EQ(member(config, "i"), "9223372036854775807");
  EXPECT_EQ(member(config, "deviceID"), "\"0000:00:00.1\"");
  EXPECT_EQ(member(config, "pciBusID"), "\"0000:00:00.1\"");
}

// 02, 12: row 158
TEST_F(AddResolvedTest, StoresATextThatNeedsNoChangeByteForByte) {
  const std::string text =
      "\n { \"name\" :\"n\",\t\"cniVersion\": \"1.0.0\", \"type\":\"t\" , \"x\": 1.50 }\n\n";
  define_text("x", text);
  add_pod("x");

  ASSERT_TRUE(add(request(conf_)));

  const json::Object scratch = *node_.records.scratch.at("c1")[1].as_object();
  EXPECT_EQ(*scratch.find("Bytes")->as_string(), to_base64(text));
  EXPECT_EQ(node_.records.results.at("n-c1-net1").config, text);
}

// 02, 12: row 48; pain 30
TEST_F(AddResolvedTest, RunsNothingIfOneNetworkCannotBeHad) {
  define("x");
  add_pod("x,gone");

  auto result = add(request(conf_));

  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text(),
              AllOf(StartsWith("Multus: [ns1/p1/u1]: error loading k8s delegates k8s args: "),
                    HasSubstr("cannot find a network-attachment-definition (gone) in namespace "
                              "(ns1)")));
  EXPECT_THAT(node_.calls, IsEmpty());
  EXPECT_THAT(node_.source.events, ElementsAre(StartsWith("Warning NoNetworkFound: ")));
}

// 02, 12: row 80; pain 25
TEST_F(AddResolvedTest, RunsNothingIfADeviceCannotBeHad) {
  define_text("x", R"({"cniVersion":"1.0.0","type":"t"})", "r/vf");
  node_.devices.known = {"r/vf"};
  add_pod("x");

  auto result = add(request(conf_));

  ASSERT_FALSE(result);
  EXPECT_THAT(result.error(), HasCode(cni::Code::kTryAgainLater));
  EXPECT_THAT(result.error().origin()->msg,
              AllOf(StartsWith("Multus: [ns1/p1/u1]: "), HasSubstr("r/vf")));
  EXPECT_THAT(node_.calls, IsEmpty());
}

// Pods that share a claim are given the same device.
TEST_F(AddResolvedTest, SaysWhichPodHoldsTheDeviceThatAPluginRefuses) {
  define_text("x", R"({"cniVersion":"1.0.0","type":"t"})", "r/vf");
  node_.devices.ids["r/vf"] = {"0000:00:00.1"};
  add_pod("x");
  ASSERT_TRUE(add(request(conf_)));
  node_.plugins.errors.emplace(
      "ADD x", Error::from_object(Errc::kPlugin, {101, "no such device", "link not found"}));
  RequestText second = request(conf_);
  second.container_id = "c2";
  second.netns = "/ns2";
  node_.links.namespaces["/ns2"] = {};

  auto refused = add(std::move(second));

  ASSERT_FALSE(refused);
  ASSERT_NE(refused.error().origin(), nullptr) << refused.error().text();
  EXPECT_EQ(refused.error().origin()->code, 101);
  EXPECT_EQ(refused.error().origin()->details, "link not found");
  EXPECT_THAT(refused.error().origin()->msg,
              HasSubstr("device 0000:00:00.1, which pod ns1/p1 holds (container c1): no such "
                        "device"));
}

TEST_F(AddResolvedTest, DoesNotNameThePodOfAnotherNamespaceThatHoldsTheDevice) {
  define_text("x", R"({"cniVersion":"1.0.0","type":"t"})", "r/vf");
  node_.devices.ids["r/vf"] = {"0000:00:00.1"};
  add_pod("x");
  ASSERT_TRUE(add(request(conf_)));
  node_.records.records.at("c1").set("podNamespace", "elsewhere");
  node_.plugins.errors.emplace("ADD x", Error(Errc::kPlugin, "no such device"));
  RequestText second = request(conf_);
  second.container_id = "c2";
  second.netns = "/ns2";
  node_.links.namespaces["/ns2"] = {};

  auto refused = add(std::move(second));

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(),
              AllOf(HasSubstr("device 0000:00:00.1, which a pod of another namespace holds: "),
                    Not(HasSubstr("elsewhere"))));
}

// 02, 12: row 80
TEST_F(AddResolvedTest, RunsANetworkOfABridgeMarkerWithoutADevice) {
  define_text("x", R"({"cniVersion":"1.0.0","type":"t"})", "bridge.network/br1");
  add_pod("x");

  ASSERT_TRUE(add(request(conf_)));

  EXPECT_EQ(member(node_.plugins.config(1), "deviceID"), "absent");
  EXPECT_TRUE(logged("[error] resource bridge.network/br1"));
}

// 02, 12: row 96
TEST_F(AddResolvedTest, RunsNothingForTwoGatewaysOfOneFamily) {
  define("x");
  add_pod(
      R"([{"name":"x","default-route":["10.1.1.1"]},{"name":"x","default-route":["10.2.2.1"]}])");

  EXPECT_THAT(add(request(conf_)).error().text(), HasSubstr("does not support ECMP"));
  EXPECT_THAT(node_.calls, IsEmpty());
}

// A definition that changes or goes between ADD and DEL is none of DEL's business.
TEST_F(AddResolvedTest, DeletesWhatWasAddedWhateverBecameOfTheDefinition) {
  define_text("x", R"({"cniVersion":"1.0.0","name":"n","type":"t","v":1})");
  add_pod(R"([{"name":"x","cni-args":{"k":"v"}}])");
  ASSERT_TRUE(add(request(conf_)));
  const json::Object added = node_.plugins.config(1);
  define_text("x", R"({"cniVersion":"1.0.0","name":"other","type":"u","v":2})");
  forget();

  ASSERT_TRUE(del(request(conf_)));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL n net1", "DEL a eth0"));
  EXPECT_EQ(member(node_.plugins.config(0), "v"), member(added, "v"));
  EXPECT_EQ(member(node_.plugins.config(0), "args"), R"({"cni":{"k":"v"}})");

  node_.source.networks.clear();
  ASSERT_TRUE(del(request(conf_)));
}

}  // namespace
}  // namespace mnet::attach
