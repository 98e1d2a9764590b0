#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "aio/group.h"
#include "aio/run.h"
#include "attach/node_fixture.h"
#include "attach/request_text.h"
#include "base/error.h"
#include "base/text.h"
#include "chain/plugins.h"
#include "cni/args.h"
#include "cni/error.h"
#include "json/json.h"
#include "model/attachment_record.h"

namespace mnet::attach {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

class AddTest : public NodeTest {};

// 02, 12: row 6
TEST_F(AddTest, AttachesDelegatesInOrderAndAnswersWithTheMastersResult) {
  auto result = add(request(delegates({"a", "b"})));

  ASSERT_TRUE(result) << result.error().text();
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "ADD b net1"));
  ASSERT_EQ(result->interfaces.size(), 1u);
  EXPECT_EQ(result->interfaces[0].name, "eth0");
  EXPECT_EQ(result->version, "1.0.0");
}

TEST_F(AddTest, HasTheScratchFileInPlaceBeforeTheFirstPluginAndAllOnDiskBeforeTheAnswer) {
  auto result = add(request(delegates({"a", "b"})));

  ASSERT_TRUE(result);
  EXPECT_EQ(node_.calls.front(), "write scratch c1");
  EXPECT_EQ(node_.calls.back(), "sync results");
  EXPECT_THAT(node_.records.unsynced, IsEmpty());
  EXPECT_EQ(node_.records.scratch.at("c1").size(), 2u);
  EXPECT_TRUE(node_.records.results.contains("a-c1-eth0"));
  EXPECT_TRUE(node_.records.results.contains("b-c1-net1"));
}

// Neither the rollback nor the runtime's DEL, which would fail as the ADD did, at every retry.
TEST_F(AddTest, NeverDeletesANetworkOfWhichNoPluginRan) {
  for (auto* cause : {&node_.plugins.missing, &node_.plugins.not_executable}) {
    SCOPED_TRACE(cause == &node_.plugins.missing ? "missing" : "not executable");
    const auto networks = R"("delegates":[{"name":"a","type":"ta"},{"name":"b","type":"tb"}])";
    cause->insert("tb");
    node_.calls.clear();

    ASSERT_FALSE(add(request(networks)));
    EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "DEL a eth0"));
    EXPECT_TRUE(node_.records.scratch.contains("c1"));

    node_.calls.clear();
    auto deleted = try_del(request(networks));
    ASSERT_TRUE(deleted);
    EXPECT_FALSE(deleted->failed) << deleted->failed->text();
    EXPECT_THAT(node_.runs(), ElementsAre("DEL a eth0"));
    EXPECT_THAT(node_.records.scratch, IsEmpty());
    cause->clear();
  }
}

// Half of the plugin's work may be there.
TEST_F(AddTest, DeletesANetworkWhoseAddEndedByADefect) {
  node_.plugins.on_run = [](const chain::PluginRun& what) {
    if (what.command == "ADD" && what.ifname == "net1") throw std::runtime_error("a defect");
  };

  ASSERT_FALSE(add(request(delegates({"a", "b"}))));

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "ADD b net1", "DEL b net1", "DEL a eth0"));
}

TEST_F(AddTest, TellsBothWhyARollbackFailedAndWhyItCannotBeRecorded) {
  node_.plugins.missing.insert("tb");
  node_.plugins.errors.emplace("DEL a", Error(Errc::kPlugin, "still in use"));
  node_.plugins.on_run = [this](const chain::PluginRun& what) {
    if (what.command == "DEL")
      node_.records.errors.emplace("write scratch c1", Error(Errc::kIo, "disk full"));
  };

  ASSERT_FALSE(add(request(R"("delegates":[{"name":"a","type":"ta"},{"name":"b","type":"tb"}])")));

  EXPECT_TRUE(logged("rollback is incomplete: "));
  EXPECT_TRUE(logged("still in use / "));
  EXPECT_TRUE(logged("disk full"));
}

TEST_F(AddTest, NamesTheMasterThatAPluginDoesNotFind) {
  node_.plugins.errors.emplace("ADD b", Error(Errc::kPlugin, "Link not found"));

  auto result = add(request(
      R"("delegates":[{"name":"a","type":"ta"},{"name":"b","type":"tb","master":"eth7"}])"));

  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text(), HasSubstr("network \"b\": master \"eth7\": Link not found"));
}

constexpr const char* kChain =
    R"("delegates":[{"name":"a","plugins":[{"type":"bridge"},{"type":"portmap"}]}])";

TEST_F(AddTest, StartsNoPluginBeforeTheRecordIsThere) {
  node_.plugins.has_room_to_spare = true;

  ASSERT_TRUE(add(request(kChain)));

  EXPECT_EQ(node_.calls[0], "write scratch c1");
  EXPECT_THAT(node_.calls, Contains("early portmap"));
  EXPECT_THAT(node_.calls, Not(Contains("early bridge")));
}

TEST_F(AddTest, StartsNothingEarlyWhereOneGoesAfterAnother) {
  node_.plugins.has_room_to_spare = true;

  ASSERT_TRUE(add(request(cat(R"("parallelAttach":"off",)", kChain))));

  EXPECT_THAT(node_.calls, Not(Contains("early portmap")));
}

TEST_F(AddTest, WritesTheLastResultWithTheRecord) {
  ASSERT_TRUE(add(request(delegates({"a", "b"}))));

  EXPECT_THAT(node_.calls,
              ElementsAre("write scratch c1", "ADD a eth0", "write result a-c1-eth0", "ADD b net1",
                          "sync scratch c1", "write result b-c1-net1", "sync results"));
  EXPECT_EQ(model::decode_record(node_.records.records.at("c1")).value().state,
            model::RecordState::kReady);
}

TEST_F(AddTest, FailsAndTakesDownIfTheLastResultCannotBeWritten) {
  node_.records.errors.emplace("write result a-c1-eth0", Error(Errc::kIo, "disk full"));

  auto result = add(request(delegates({"a"})));

  EXPECT_THAT(result.error().text(),
              HasSubstr("failed to set network \"a\" cached result: disk full"));
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "DEL a eth0"));
  EXPECT_NE(model::decode_record(node_.records.records.at("c1")).value().state,
            model::RecordState::kReady);
}

TEST_F(AddTest, TakesDownWithTheLastResultThoughItWasNotWrittenYet) {
  node_.records.errors.emplace("sync scratch c1", Error(Errc::kIo, "disk gone"));

  ASSERT_FALSE(add(request(delegates({"a"}))));

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "DEL a eth0"));
  const json::Object del = node_.plugins.config(1);
  ASSERT_NE(del.find("prevResult"), nullptr);
  EXPECT_NE(del.find("prevResult")->as_object()->find("ips"), nullptr);
}

TEST_F(AddTest, SyncsTheScratchFileWhileADelegateRuns) {
  auto hold = node_.plugins.hold("ADD a");
  aio::Group group(loop_.get_executor(), log_);
  group.spawn("add", adding(request(delegates({"a"}))));

  ASSERT_TRUE(aio::run(loop_, hold->reached.wait()));
  loop_.poll();

  EXPECT_THAT(node_.calls, ElementsAre("write scratch c1", "sync scratch c1"));
  hold->release.set();
  EXPECT_TRUE(aio::run(loop_, group.join()));
}

// 02, 12: rows 1, 2, 3
TEST_F(AddTest, RefusesANetconfThatSaysNothingToRun) {
  RequestText broken = request(delegates({"a"}));
  broken.config = "{";
  EXPECT_THAT(add(broken).error().text(),
              HasSubstr("Multus: error loading netconf: failed to load netconf"));
  broken.config = "{}";
  EXPECT_THAT(add(broken).error().text(),
              HasSubstr("at least one delegate/clusterNetwork must be specified"));
  EXPECT_THAT(node_.calls, IsEmpty());
}

// 02, 12: row 7
TEST_F(AddTest, RunsNothingForADelegateWithoutName) {
  auto result = add(request(R"("delegates":[{"name":"a","type":"fake"},{"type":"fake"}])"));

  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text(), HasSubstr("missing network name"));
  EXPECT_THAT(result.error(), HasCode(7));
  EXPECT_THAT(node_.calls, IsEmpty());
}

TEST_F(AddTest, RunsNothingForAListWithoutName) {
  auto result = add(request(R"("delegates":[{"plugins":[{"type":"fake"}]}])"));

  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text(), HasSubstr("no name"));
  EXPECT_THAT(node_.calls, IsEmpty());
}

// 02, 12: row 8
TEST_F(AddTest, RunsAnInlineListAsAList) {
  auto result = add(request(
      R"("delegates":[{"name":"l","cniVersion":"1.0.0","plugins":[{"type":"x"},{"type":"y"}]}])"));

  ASSERT_TRUE(result) << result.error().text();
  EXPECT_THAT(node_.runs(), ElementsAre("ADD l eth0", "ADD l eth0"));
  EXPECT_EQ(node_.plugins.runs[1].binary, "/bin/y");
}

// 02, 12: row 9
TEST_F(AddTest, IgnoresDelegatesBesideAClusterNetwork) {
  node_.networks.configs["/etc/net.conf"] = R"({"name":"cluster","type":"fake"})";

  auto result = add(request(R"("clusterNetwork":"/etc/net.conf",)" + delegates({"a"})));

  ASSERT_TRUE(result) << result.error().text();
  EXPECT_THAT(node_.runs(), ElementsAre("ADD cluster eth0"));
}

TEST_F(AddTest, AttachesDefaultNetworksExceptInSystemNamespaces) {
  node_.networks.configs["/n/c.conf"] = R"({"name":"c","type":"fake"})";
  node_.networks.configs["/n/d.conf"] = R"({"name":"d","type":"fake"})";
  const std::string conf = R"("clusterNetwork":"/n/c.conf","defaultNetworks":["/n/d.conf"])";

  ASSERT_TRUE(add(request(conf)));
  EXPECT_THAT(node_.runs(), ElementsAre("ADD c eth0", "ADD d net1"));

  forget();
  RequestText system = request(conf);
  system.container_id = "c2";
  system.netns = "/ns2";
  system.args = "K8S_POD_NAMESPACE=kube-system;K8S_POD_NAME=dns";
  node_.links.namespaces["/ns2"];
  ASSERT_TRUE(add(system));
  EXPECT_THAT(node_.runs(), ElementsAre("ADD c eth0"));
}

TEST_F(AddTest, SaysWhatIsWrongWithTheClusterNetwork) {
  auto by_name = add(request(R"("clusterNetwork":"calico")"));
  EXPECT_EQ(by_name.error().text(),
            "Multus: [ns1/p1/u1]: failed to get clusterNetwork/defaultNetworks: failed to get "
            "clusterNetwork calico in namespace kube-system: must have either Kubernetes config or "
            "delegates");

  auto by_path = add(request(R"("clusterNetwork":"/no/such")"));
  EXPECT_THAT(by_path.error().text(), HasSubstr("cannot find network /no/such"));
  EXPECT_THAT(node_.calls, IsEmpty());
}

// 02, 12: row 14
TEST_F(AddTest, RefusesAPreviousResultThatCannotBeRead) {
  auto result = add(request(R"("prevResult":{"cniVersion":"0.2.0"},)" + delegates({"a"})));

  EXPECT_THAT(result.error().text(), HasSubstr("could not parse prevResult"));
}

// 02, 12: rows 16, 17
TEST_F(AddTest, ReadsItsArgumentsStrictly) {
  RequestText bad = request(delegates({"a"}));
  bad.args = "K8S_POD_NAME:x";
  EXPECT_THAT(add(bad).error().text(), HasSubstr("ARGS: invalid pair"));
  bad.args = "FOO=1";
  EXPECT_THAT(add(bad).error().text(), HasSubstr("ARGS: unknown args"));
  EXPECT_THAT(node_.calls, IsEmpty());
  bad.args = "FOO=1;IgnoreUnknown=1";
  EXPECT_TRUE(add(bad));
}

// 02, 12: rows 18, 75
TEST_F(AddTest, HandsItsArgumentsOnOnceEach) {
  RequestText what = request(delegates({"a"}));
  what.args = "K8S_POD_NAME=p;X=a=b;IgnoreUnknown=1;X=c;K8S_POD_NAMESPACE=n";

  ASSERT_TRUE(add(what));

  EXPECT_THAT(node_.plugins.runs[0].args,
              ElementsAre(Pair("IgnoreUnknown", "true"), Pair("K8S_POD_NAMESPACE", "n"),
                          Pair("K8S_POD_NAME", "p"), Pair("K8S_POD_INFRA_CONTAINER_ID", ""),
                          Pair("K8S_POD_UID", ""), Pair("X", "a=b")));
}

TEST_F(AddTest, ServesAContainerThatIsNoPod) {
  RequestText what = request(delegates({"a"}));
  what.args = "";

  ASSERT_TRUE(add(what));

  EXPECT_EQ(cni::args_text(node_.plugins.runs[0].args),
            "IgnoreUnknown=true;K8S_POD_NAMESPACE=;K8S_POD_NAME=;K8S_POD_INFRA_CONTAINER_ID=;"
            "K8S_POD_UID=");
}

// 02, 12: row 19
TEST_F(AddTest, RefusesContainerIdsThatAreNoFileNames) {
  for (const std::string id :
       {"../../etc/x", "a/b", "", "results", "pending-del", "_attachments"}) {
    RequestText what = request(delegates({"a"}));
    what.container_id = id;
    EXPECT_FALSE(add(what)) << id;
    EXPECT_FALSE(del(what)) << id;
    EXPECT_FALSE(check(what)) << id;
  }
  EXPECT_THAT(node_.calls, IsEmpty());
}

TEST_F(AddTest, RefusesInterfaceNamesThatCannotBe) {
  RequestText what = request(delegates({"a"}));
  what.ifname = "a/b";
  EXPECT_THAT(add(what).error(), HasCode(4));

  what.ifname = "net1";
  auto twice = add([&] {
    what.config = request(delegates({"a", "b"})).config;
    return what;
  }());
  EXPECT_THAT(twice.error().text(), HasSubstr("net1"));
  EXPECT_THAT(node_.calls, IsEmpty());
}

// 02, 12: row 70, a foreign interface without a record
TEST_F(AddTest, LeavesAForeignInterfaceAlone) {
  node_.links.namespaces["/ns"] = {"eth0"};

  auto result = add(request(delegates({"a"})));

  EXPECT_EQ(result.error().text(),
            "[ns1/p1/u1:a]: error adding container to network \"a\": cannot set \"fake\" interface "
            "name to \"eth0\": interface name eth0 already exists");
  EXPECT_THAT(node_.calls, IsEmpty());
  EXPECT_TRUE(node_.links.namespaces["/ns"].contains("eth0"));
}

// 02, 12: row 70, an interface appears before delegate 2's turn
TEST_F(AddTest, RollsBackWhenAForeignInterfaceAppearsButKeepsThatInterface) {
  node_.plugins.on_run = [&](const chain::PluginRun& run) {
    if (run.command == "ADD" && run.ifname == "eth0") node_.links.namespaces["/ns"].insert("net1");
  };

  auto result = add(request(delegates({"a", "b"})));

  EXPECT_THAT(result.error().text(), HasSubstr("interface name net1 already exists"));
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "DEL a eth0"));
  EXPECT_THAT(node_.links.namespaces["/ns"], ElementsAre("net1"));
}

// 02, 12: row 71
TEST_F(AddTest, SaysThatThereIsNoNamespace) {
  RequestText what = request(delegates({"a"}));
  what.netns = "/gone";

  auto result = add(what);

  EXPECT_THAT(result.error().text(), HasSubstr("no net namespace /gone found"));
  EXPECT_THAT(node_.calls, IsEmpty());
}

// 02, 12: row 101
TEST_F(AddTest, KeepsThePluginsCodeAndTakesEverythingDownNewestFirst) {
  node_.plugins.errors.emplace("ADD b", cni::coded(cni::Code::kTryAgainLater, "busy", "wait"));

  auto result = add(request(delegates({"a", "b", "c"})));

  ASSERT_FALSE(result);
  EXPECT_THAT(result.error(), HasCode(11));
  EXPECT_EQ(result.error().origin()->msg,
            "[ns1/p1/u1:b]: error adding container to network \"b\": busy");
  EXPECT_EQ(result.error().origin()->details, "wait");
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "ADD b net1", "DEL b net1", "DEL a eth0"));
  EXPECT_TRUE(node_.records.scratch.contains("c1"));
  EXPECT_THAT(node_.records.results, IsEmpty());
}

TEST_F(AddTest, GoesOnTakingDownWhenADelFails) {
  node_.plugins.errors.emplace("ADD c", Error(Errc::kPlugin, "no"));
  node_.plugins.errors.emplace("DEL b", Error(Errc::kPlugin, "stuck"));

  ASSERT_FALSE(add(request(delegates({"a", "b", "c"}))));

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "ADD b net1", "ADD c net2", "DEL c net2",
                                        "DEL b net1", "DEL a eth0"));
  EXPECT_TRUE(logged("stuck"));
}

TEST_F(AddTest, RunsNothingIfTheScratchFileCannotBeWritten) {
  node_.records.errors.emplace("write scratch c1", Error(Errc::kIo, "disk full"));

  auto result = add(request(delegates({"a"})));

  EXPECT_EQ(result.error().text(), "Multus: [ns1/p1/u1]: error saving the delegates: disk full");
  EXPECT_THAT(node_.runs(), IsEmpty());
}

TEST_F(AddTest, TakesDownWhatItCannotMakeDurable) {
  node_.records.errors.emplace("sync scratch c1", Error(Errc::kIo, "disk gone"));
  EXPECT_THAT(add(request(delegates({"a"}))).error().text(), HasSubstr("disk gone"));
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "DEL a eth0"));

  node_.records.errors.clear();
  ASSERT_TRUE(del(request(delegates({"a"}))));
  forget();
  node_.records.errors.emplace("sync results", Error(Errc::kIo, "disk gone"));
  EXPECT_THAT(add(request(delegates({"a", "b"}))).error().text(), HasSubstr("disk gone"));
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "ADD b net1", "DEL b net1", "DEL a eth0"));
}

// 02, 12: row 118
TEST_F(AddTest, WaitsForTheReadinessIndicator) {
  node_.readiness.on_ask = [&] {
    if (node_.readiness.asked == 3) node_.readiness.files.insert("/ready");
  };
  TextAttachments patient(
      node_.ports(), log_,
      {.readiness_wait = std::chrono::hours(1), .readiness_poll = std::chrono::milliseconds(1)});

  // 02, 12: row 10, the key in another spelling
  EXPECT_TRUE(aio::run(
      loop_, patient.add(request(R"("ReadinessIndicatorFile":"/ready",)" + delegates({"a"})))));
  EXPECT_EQ(node_.readiness.asked, 3);
}

// 02, 12: row 118
TEST_F(AddTest, GivesUpOnTheReadinessIndicatorWithCode11) {
  auto result = add(request(R"("readinessindicatorfile":"/ready",)" + delegates({"a"})));

  EXPECT_THAT(result.error().text(),
              HasSubstr("still waiting for readinessindicatorfile @ /ready"));
  EXPECT_THAT(result.error(), HasCode(11));
  EXPECT_THAT(node_.calls, IsEmpty());
}

TEST_F(AddTest, OffersTheRuntimesConfigurationToEveryDelegateThatDeclaresIt) {
  auto result = add(request(
      R"("runtimeConfig":{"portMappings":[{"hostPort":80,"containerPort":8080}],"cgroupPath":"/c"},)"
      R"("delegates":[{"name":"a","type":"x","capabilities":{"portMappings":true}},)"
      R"({"name":"b","type":"y","capabilities":{"cgroupPath":true}}])"));

  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(*node_.plugins.config(0).find("runtimeConfig"),
            json::parse(R"({"portMappings":[{"hostPort":80,"containerPort":8080}]})").value());
  EXPECT_EQ(*node_.plugins.config(1).find("runtimeConfig"),
            json::parse(R"({"cgroupPath":"/c"})").value());
  EXPECT_EQ(node_.records.results.at("b-c1-net1").capability_args.size(), 2u);
}

TEST_F(AddTest, LooksForPluginsInBinDirFirstThenInTheRequestsPath) {
  RequestText what = request(R"("binDir":"/b",)" + delegates({"a"}));
  what.path = "/p1::/p2:/b";

  ASSERT_TRUE(add(what));

  EXPECT_THAT(node_.plugins.runs[0].dirs, ElementsAre("/b", "/p1", "/p2", "/b"));
  EXPECT_EQ(node_.plugins.runs[0].request_id, "00112233aabbccdd");
}

// 02, 9
TEST_F(AddTest, WritesTheLineThatToolsSearchFor) {
  ASSERT_TRUE(add(request(delegates({"a"}))));

  EXPECT_TRUE(logged(R"([verbose] Add: ns1:p1:unknownUID:a(a):eth0 {"cniVersion":"1.0.0",)"));
}

TEST_F(AddTest, AppendsTheAuxiliaryChainIfItHasPlugins) {
  node_.networks.configs["/n/c.conf"] = R"({"name":"c","type":"fake"})";
  const std::string conf = R"("clusterNetwork":"/n/c.conf","auxiliaryCNIChainName":"aux")";
  ASSERT_TRUE(add(request(conf)));
  EXPECT_THAT(node_.runs(), ElementsAre("ADD c eth0"));
  ASSERT_TRUE(del(request(conf)));
  forget();

  node_.networks.auxiliary = {R"({"type":"tuning"})"};
  ASSERT_TRUE(add(request(conf)));

  EXPECT_THAT(node_.runs(), ElementsAre("ADD c eth0", "ADD aux net1", "ADD aux net1"));
  EXPECT_EQ(node_.plugins.runs[1].binary, "/bin/passthru");
  EXPECT_EQ(node_.plugins.runs[2].binary, "/bin/tuning");
}

// 02, 12: row 67
TEST_F(AddTest, NeedsAPathForTheAuxiliaryChainAndDoesWithoutABrokenOne) {
  auto refused = add(request(R"("auxiliaryCNIChainName":"aux",)" + delegates({"a"})));
  EXPECT_THAT(refused.error().text(), HasSubstr("ClusterNetwork must be a path"));

  node_.networks.configs["/n/c.conf"] = R"({"name":"c","type":"fake"})";
  node_.networks.auxiliary_error = Error(Errc::kInvalid, "missing 'type'");
  EXPECT_TRUE(add(request(R"("clusterNetwork":"/n/c.conf","auxiliaryCNIChainName":"a\"b")")));
  EXPECT_TRUE(logged("is skipped"));
}

}  // namespace
}  // namespace mnet::attach
