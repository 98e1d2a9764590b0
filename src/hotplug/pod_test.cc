// Hot-plug for pods that an object source knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "aio/blocking_pool.h"
#include "aio/run.h"
#include "attach/ports.h"
#include "attach/request_text.h"
#include "base/error.h"
#include "base/text.h"
#include "cni/args.h"
#include "hotplug/hotplug_fixture.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/requested_networks.h"

namespace mnet::hotplug {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class HotplugOfPod : public HotplugTest {
 protected:
  HotplugOfPod() { node_.source.add_pod("ns1", "p1", {}); }

  // As with a folder of manifests: not every container has an object, and no client keeps the
  // status.
  void use_folder() { node_.source.complete = false; }
  std::string& status() { return node_.source.statuses["ns1/p1"]; }
  // `<name> <interface>` of each entry.
  std::vector<std::string> entries() {
    std::vector<std::string> names;
    const json::Value document = json::parse(status()).value();
    for (const json::Value& entry : *document.as_array()) {
      const json::Value* interface = entry.as_object()->find("interface");
      names.push_back(cat(*entry.as_object()->find("name")->as_string(), " ",
                          interface == nullptr ? std::string("-") : *interface->as_string()));
    }
    return names;
  }
  static RequestText without_pod() {
    RequestText what = request_of("net1", "x");
    what.request.args = "";
    return what;
  }

  TextHotplug& hotplug() override { return hotplug_with_source_; }

  attach::TextAttachments with_source_{node_.cluster_ports(), log_};
  TextHotplug hotplug_with_source_{with_source_, log_};
};

// 05, 4: row 70; 03, 12: row 66
TEST_F(HotplugOfPod, MustExistForAddAndDelButNotForCheck) {
  node_.source.pods.clear();

  auto added = plug(request_of("net1", "x"));
  auto removed = unplug(request_of("net1", "x"));

  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().text(), HasSubstr("pod not found during Multus GetPod"));
  ASSERT_FALSE(removed);
  EXPECT_THAT(removed.error().text(), HasSubstr("pod not found during Multus GetPod"));
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_EQ(node_.source.lookups.at(0).wait, std::chrono::milliseconds(2500));
  EXPECT_TRUE(check_plugged(request_of("net1", "x")));
}

// 05, 4: rows 10 and 70: the source decides which UID fits, also for static pods
TEST_F(HotplugOfPod, MustHaveTheRightUid) {
  node_.source.pod_error =
      Error(Errc::kConflict, R"(expected pod UID "u1" but got "u2" from Kube API)");

  EXPECT_FALSE(plug(request_of("net1", "x")));
  EXPECT_FALSE(unplug(request_of("net1", "x")));

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_EQ(node_.source.lookups.at(0).uid, "u1");
}

TEST_F(HotplugOfPod, GivesPluginsItsUidIfTheRequestHasNone) {
  RequestText what = request_of("net1", "x");
  what.request.args = "K8S_POD_NAMESPACE=ns1;K8S_POD_NAME=p1";

  ASSERT_TRUE(plug(what));
  EXPECT_EQ(*cni::find_arg(node_.plugins.runs.at(0).args, "K8S_POD_UID"), "u1");
}

// 02, 5.1 step 7d
TEST_F(HotplugOfPod, HearsOfItsNewInterfaceOnce) {
  ASSERT_TRUE(plug(request_of("net1", "x")));
  ASSERT_TRUE(plug(request_of("net1", "x")));

  EXPECT_THAT(node_.source.events,
              ElementsAre("Normal AddedInterface: Add net1 [10.0.0.2/24] from x"));
}

TEST_F(HotplugOfPod, HearsNothingOfAnEmptyResult) {
  use_folder();
  node_.plugins.answers["ADD x"] = "{}";

  ASSERT_TRUE(plug(request_of("net1", "x")));

  EXPECT_THAT(node_.source.events, IsEmpty());
  EXPECT_THAT(node_.source.statuses, IsEmpty());
}

// 02, 5.9: the client does it (0018)
TEST_F(HotplugOfPod, KeepsItsStatusWhereClientsWriteIt) {
  status() = "[]";

  ASSERT_TRUE(plug(request_of("net1", "x")));
  ASSERT_TRUE(unplug(request_of("net1", "x")));

  EXPECT_EQ(status(), "[]");
}

TEST_F(HotplugOfPod, GetsItsStatusFromUsWhereNobodyElseWritesIt) {
  use_folder();
  status() = R"([{"name":"c","interface":"eth0","default":true,"more":1.50,"dns":{}},{"odd":1}])";
  const std::string before = status();

  ASSERT_TRUE(plug(request_of("net1", "x")));

  const json::Array after = *json::parse(status()).value().as_array();
  ASSERT_THAT(after, SizeIs(3));
  EXPECT_EQ(json::Value(json::Array{after[0], after[1]}), json::parse(before).value());
  EXPECT_EQ(json::dump(after[2]), R"({"name":"x","interface":"net1","ips":["10.0.0.2"],"dns":{}})");
  EXPECT_THAT(status(), HasSubstr("\"more\": 1.50"));

  ASSERT_TRUE(unplug(request_of("net1", "x")));
  EXPECT_EQ(json::parse(status()).value(), json::parse(before).value());
}

TEST_F(HotplugOfPod, LosesEveryEntryOfARemovedNetworkAndNoOther) {
  use_folder();
  node_.plugins.answers["ADD x"] =
      R"({"cniVersion":"1.0.0","interfaces":[{"name":"net1","sandbox":"/ns"},)"
      R"({"name":"net1b","sandbox":"/ns"}]})";
  ASSERT_TRUE(plug(request_of("net1", "x")));
  ASSERT_TRUE(plug(request_of("net2", "y")));
  node_.plugins.answers["ADD z"] = R"({"cniVersion":"1.0.0","ips":[{"address":"10.0.0.9/24"}]})";
  ASSERT_TRUE(plug(request_of("net3", "z")));
  EXPECT_THAT(entries(), ElementsAre("x net1", "x net1b", "y net2", "z -"));

  ASSERT_TRUE(unplug(request_of("net1", "x")));
  EXPECT_THAT(entries(), ElementsAre("y net2", "z -"));

  ASSERT_TRUE(unplug(request_of("net3", "z")));
  EXPECT_THAT(entries(), ElementsAre("y net2"));
}

// A status that cannot be understood is not destroyed, and the interface is there all the same.
TEST_F(HotplugOfPod, KeepsAStatusThatNobodyCanRead) {
  use_folder();
  status() = "garbage";

  ASSERT_TRUE(plug(request_of("net1", "x")));
  ASSERT_TRUE(unplug(request_of("net1", "x")));

  EXPECT_EQ(status(), "garbage");
  EXPECT_TRUE(logged("error setting the networks status"));
}

TEST_F(HotplugOfPod, HasItsInterfaceAlsoIfTheStatusCannotBeWritten) {
  use_folder();
  node_.source.status_error = Error(Errc::kIo, "disk full");

  EXPECT_TRUE(plug(request_of("net1", "x")));
  EXPECT_TRUE(logged("disk full"));
}

// 00-index, "Folder of manifests": the pod is in no file, so it has no annotations
TEST_F(HotplugOfPod, NeedNotBeInTheFolder) {
  use_folder();
  node_.source.pods.clear();

  EXPECT_TRUE(plug(request_of("net1", "x")));
  EXPECT_TRUE(unplug(request_of("net1", "x")));
  EXPECT_THAT(node_.source.lookups, SizeIs(2));
  EXPECT_THAT(node_.source.statuses, IsEmpty());
}

// 00-index, on requests of containers that are not pods
TEST_F(HotplugOfPod, IsNotLookedForIfTheRequestNamesNone) {
  use_folder();

  ASSERT_TRUE(plug(without_pod()));
  ASSERT_TRUE(unplug(without_pod()));

  EXPECT_THAT(node_.source.lookups, IsEmpty());
  EXPECT_THAT(node_.source.events, IsEmpty());
  EXPECT_THAT(node_.source.statuses, IsEmpty());
}

// 05, 3.2: what the annotation names was the pod's request, the rest is never unplugged
TEST_F(HotplugOfPod, TellsItsOwnNetworksFromTheNodesWhenARecordIsMadeUp) {
  node_.source.add_pod("ns1", "p1", {{"k8s.v1.cni.cncf.io/networks", "b, ns2/c"}});
  node_.source.add_network("ns1", "b", R"({"cniVersion":"1.0.0","type":"fake"})");
  node_.source.add_network("ns2", "c", R"({"cniVersion":"1.0.0","type":"fake"})");
  auto added = aio::run(loop_, with_source_.add(request(delegates({"a", "d"}))));
  ASSERT_TRUE(added) << added.error().text();
  node_.records.records.clear();

  ASSERT_TRUE(plug(request_of("net9", "x")));

  std::vector<std::pair<std::string, model::Source>> sources;
  for (const model::RecordedAttachment& one : recorded().attachments) {
    sources.emplace_back(one.ifname, one.source);
  }
  using Pair = std::pair<std::string, model::Source>;
  EXPECT_THAT(sources, ElementsAre(Pair("eth0", model::Source::kCluster),
                                   Pair("net1", model::Source::kDefaultNetworks),
                                   Pair("net2", model::Source::kAnnotation),
                                   Pair("net3", model::Source::kAnnotation),
                                   Pair("net9", model::Source::kDelegateApi)));
}

// An annotation that cannot be read may name any of the networks: an error is never an absence.
TEST_F(HotplugOfPod, IsLeftAloneWhileItCannotBeToldWhatItAskedFor) {
  node_.source.add_network("ns1", "b", R"({"cniVersion":"1.0.0","type":"fake"})");
  node_.source.add_pod("ns1", "p1", {{"k8s.v1.cni.cncf.io/networks", "b"}});
  ASSERT_TRUE(aio::run(loop_, with_source_.add(request(delegates({"a"})))));
  node_.source.add_pod("ns1", "p1", {{"k8s.v1.cni.cncf.io/networks", "b,"}});
  ASSERT_TRUE(plug(request_of("net8", "x"))) << "all is on record";
  const auto on_record = node_.records.records;
  node_.records.records.clear();

  const auto refused = plug(request_of("net9", "x"));

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(),
              HasSubstr("cannot tell which networks the pod asked for: an item of the"));
  EXPECT_FALSE(unplug(request_of("net1", "b")));
  EXPECT_THAT(node_.records.records, IsEmpty());
  node_.records.records = on_record;
  EXPECT_TRUE(unplug(request_of("net1", "b")));
}

TEST_F(HotplugOfPod, HasALongAnnotationReadOnAThreadOfThePool) {
  const auto threads_for = [this](std::size_t bytes) {
    aio::BlockingPool pool(1);
    attach::Ports ports = node_.cluster_ports();
    ports.pool = &pool;
    attach::TextAttachments attachments(ports, log_);
    TextHotplug hotplug(attachments, log_);
    node_.source.add_pod("ns1", "p1",
                         {{"k8s.v1.cni.cncf.io/networks", cat("b", std::string(bytes - 1, ' '))}});
    node_.records.records.clear();
    EXPECT_TRUE(aio::run(loop_, hotplug.add(request_of("net9", "x"))));
    return pool.threads();
  };
  ASSERT_TRUE(aio::run(loop_, with_source_.add(request(delegates({"a"})))));

  EXPECT_EQ(threads_for(model::kLongAnnotation), 0u);
  node_.links.namespaces.clear();
  EXPECT_EQ(threads_for(model::kLongAnnotation + 1), 1u);
}

// 05, R3: the same NAD, asked for by a controller, which fills in its name
TEST_F(HotplugOfPod, IsAnsweredForANetworkOfItsAnnotation) {
  node_.source.add_pod("ns1", "p1",
                       {{"k8s.v1.cni.cncf.io/networks",
                         R"([{"name":"b","ips":["10.9.0.1/24"],"cni-args":{"k":1}}])"}});
  node_.source.add_network("ns1", "b", R"({"cniVersion":"1.0.0","type":"fake"})");
  auto added = aio::run(loop_, with_source_.add(request(delegates({"a"}))));
  ASSERT_TRUE(added) << added.error().text();
  forget();
  RequestText what = request_of("net1", "b");
  what.ips = {"10.9.0.1/24"};
  what.cni_args = json::Object{{"k", 1}};

  auto again = plug(what);

  ASSERT_TRUE(again) << again.error().text();
  EXPECT_THAT(node_.runs(), IsEmpty());
}

// The daemon fills in the version of what a client sends (03, 2.10), a definition's stays missing.
TEST_F(HotplugOfPod, IsAnsweredForANetworkWithoutAVersion) {
  node_.source.add_pod("ns1", "p1", {{"k8s.v1.cni.cncf.io/networks", "b"}});
  node_.source.add_network("ns1", "b", R"({"type":"fake"})");
  auto added = aio::run(loop_, with_source_.add(request(delegates({"a"}))));
  ASSERT_TRUE(added) << added.error().text();
  forget();
  RequestText what = request_of("net1", "b", "0.4.0");
  what.settings = R"({"cniVersion":"0.4.0"})";
  RequestText other = request_of("net1", "b", "1.0.0");
  other.settings = what.settings;

  EXPECT_TRUE(plug(what));
  EXPECT_FALSE(plug(other));
  EXPECT_THAT(node_.runs(), IsEmpty());
}

}  // namespace
}  // namespace mnet::hotplug
