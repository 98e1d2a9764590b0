#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "attach/node_fixture.h"
#include "base/error.h"
#include "base/result.h"
#include "chain/caller.h"
#include "chain/plugins.h"
#include "cni/args.h"
#include "cni/error.h"
#include "cni/result.h"
#include "hotplug/hotplug_fixture.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/delegate.h"

namespace mnet::hotplug {
namespace {

using attach::HasCode;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// The text of the error, or `no error`.
template <typename T>
std::string said(const Result<T>& result) {
  return result ? "no error" : result.error().text();
}

class HotplugAdd : public HotplugTest {};
class HotplugDel : public HotplugTest {};
class HotplugCheck : public HotplugTest {};

// 05, 4: row 1; 03, 12: row 63
TEST_F(HotplugAdd, GivesThePluginWhatTheClientWishes) {
  RequestText what = request_of("net1", "x");
  what.ips = {"10.1.1.11/24"};
  what.mac = "02:03:04:05:06:07";
  what.cni_args = json::Object{{"a", "b"}};

  auto added = plug(what);

  ASSERT_TRUE(added) << added.error().text();
  EXPECT_EQ(added->interfaces.at(0).name, "net1");
  const chain::PluginRun& run = node_.plugins.runs.at(0);
  EXPECT_EQ(run.ifname, "net1");
  EXPECT_EQ(*cni::find_arg(run.args, "IP"), "10.1.1.11/24");
  EXPECT_EQ(*cni::find_arg(run.args, "MAC"), "02:03:04:05:06:07");
  EXPECT_EQ(json::dump(*node_.plugins.config(0).find("args")), R"({"cni":{"a":"b"}})");
}

// 05, R8; 03, 12: row 64
TEST_F(HotplugAdd, TakesTheCoresSettingsAndGivesNoneOfThemAway) {
  RequestText what = request_of("net1", "x");
  what.settings = R"({"cniVersion":"0.3.1","binDir":"/b","cniDir":"/var/lib/x","logLevel":"debug",)"
                  R"("runtimeConfig":{"mac":"02:00:00:00:00:09"},"clusterNetwork":"/nowhere"})";

  ASSERT_TRUE(plug(what));

  EXPECT_THAT(node_.plugins.runs.at(0).dirs, ElementsAre("/b", "/opt/cni/bin"));
  const json::Object config = node_.plugins.config(0);
  EXPECT_EQ(json::dump(config, json::kSorted),
            R"({"cniVersion":"1.0.0","name":"x","type":"fake"})");
}

// 02, 3.3
TEST_F(HotplugAdd, RefusesMultusItselfAtEveryDepth) {
  for (const char* config :
       {R"({"cniVersion":"1.1.0","name":"x","type":"multus-cni"})",
        R"({"cniVersion":"1.1.0","name":"x","type":"ours"})",
        R"({"cniVersion":"1.1.0","name":"x","type":"t","ipam":{"type":"multus"}})",
        R"({"cniVersion":"1.1.0","name":"x","plugins":[{"type":"t","d":{"type":"multus"}}]})"}) {
    RequestText what = request_of("net1", "x");
    what.request.config = config;
    what.settings = R"({"type":"ours"})";

    EXPECT_THAT(said(plug(what)), HasSubstr("is multus itself")) << config;
    EXPECT_THAT(said(check_plugged(what)), HasSubstr("is multus itself")) << config;
    EXPECT_THAT(said(status_of(what)), HasSubstr("is multus itself")) << config;
    EXPECT_TRUE(unplug(what)) << config;
  }
  RequestText what = request_of("net1", "x");
  what.cni_args = json::Object{{"type", "../evil"}};
  EXPECT_THAT(said(plug(what)), HasSubstr("args.cni.type: invalid plugin name: ../evil"));
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(node_.records.records, IsEmpty());
}

// 02, 12: row 60; pain 48
TEST_F(HotplugAdd, TakesOnlyAllowedTypes) {
  for (
      const char* config :
      {R"({"cniVersion":"1.1.0","name":"x","type":"evil"})",
       R"({"cniVersion":"1.1.0","name":"x","plugins":[{"type":"fake","ipam":{"type":"evil"}}]})"}) {
    RequestText what = request_of("net1", "x");
    what.request.config = config;
    what.settings = R"({"allowedPluginTypes":["fake"]})";

    for (const std::string& text :
         {said(plug(what)), said(check_plugged(what)), said(status_of(what))}) {
      EXPECT_THAT(text, HasSubstr("\"evil\" is not among allowedPluginTypes (fake)")) << config;
    }
    EXPECT_TRUE(unplug(what)) << config;
  }
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(node_.records.records, IsEmpty());
}

// What was attached before the list was made is removed whatever the list says.
TEST_F(HotplugAdd, RemovesWhatIsRecordedWithoutAskingForItsType) {
  RequestText what = request_of("net1", "x");
  ASSERT_TRUE(plug(what));
  what.settings = R"({"allowedPluginTypes":[]})";

  EXPECT_TRUE(unplug(what));

  EXPECT_THAT(node_.runs(), ElementsAre("ADD x net1", "DEL x net1"));
}

// 05, R9
TEST_F(HotplugAdd, PassesTheContainerIdAsInfraContainer) {
  RequestText what = request_of("net1", "x");
  what.request.args = "K8S_POD_NAMESPACE=ns1;K8S_POD_NAME=p1;K8S_POD_UID=u1";

  ASSERT_TRUE(plug(what));
  EXPECT_EQ(*cni::find_arg(node_.plugins.runs.at(0).args, "K8S_POD_INFRA_CONTAINER_ID"), "c1");
}

// A record reconstructed without what cannot be read would replace it.
TEST_F(HotplugAdd, ChangesNothingWhileTheRecordCannotBeRead) {
  ASSERT_TRUE(plug(request_of("net1", "x")));
  forget();
  for (const int why : {EMFILE, EIO}) {
    node_.records.find_record_error = Error::from_errno(why, "open c1.json");

    EXPECT_THAT(plug(request_of("net2", "y")).error(), HasCode(11));
    EXPECT_THAT(unplug(request_of("net1", "x")).error(), HasCode(11));
  }
  EXPECT_THAT(node_.runs(), IsEmpty());
  node_.records.find_record_error.reset();
  EXPECT_TRUE(unplug(request_of("net1", "x")));
}

// 05, R2: on record before the plugin runs, with the result before the answer
TEST_F(HotplugAdd, IsInTheAttachmentRecordAndInNoScratchFile) {
  std::string during;
  node_.plugins.on_run = [&](const chain::PluginRun&) {
    during = json::dump(node_.records.records.at("c1"));
  };

  ASSERT_TRUE(plug(request_of("net1", "x")));

  EXPECT_THAT(during, HasSubstr(R"("state":"adding")"));
  const model::AttachmentRecord record = recorded();
  ASSERT_THAT(record.attachments, SizeIs(1));
  EXPECT_EQ(record.attachments[0].source, model::Source::kDelegateApi);
  EXPECT_EQ(record.attachments[0].state, model::AttachmentState::kAttached);
  EXPECT_EQ(record.attachments[0].cni_name, "x");
  EXPECT_TRUE(record.attachments[0].result.has_value());
  EXPECT_EQ(record.netns, "/ns");
  EXPECT_THAT(node_.records.scratch, IsEmpty());
  EXPECT_TRUE(node_.records.results.contains("x-c1-net1"));
}

// 05, 3.7: only what started is rolled back; a name under which nothing was made stays free
TEST_F(HotplugAdd, WritesNothingDownForAPluginThatIsNotInstalled) {
  node_.plugins.missing.insert("fake");

  auto refused = plug(request_of("net1", "x"));
  node_.plugins.missing.clear();
  auto added = plug(request_of("net1", "y"));

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("failed to find plugin \"fake\""));
  ASSERT_TRUE(added) << added.error().text();
  EXPECT_THAT(node_.runs(), ElementsAre("ADD y net1"));
}

// 05, R3; 05, 4: row 2
TEST_F(HotplugAdd, IsAnsweredFromTheRecordWhenRepeated) {
  auto first = plug(request_of("net1", "x"));
  ASSERT_TRUE(first);
  forget();

  auto second = plug(request_of("net1", "x"));

  ASSERT_TRUE(second) << second.error().text();
  EXPECT_EQ(*second, *first);
  EXPECT_THAT(node_.runs(), IsEmpty());
}

// 05, R3; 05, 4: row 3
TEST_F(HotplugAdd, RefusesAnInterfaceThatHasAnything) {
  ASSERT_TRUE(plug(request_of("net1", "x")));
  forget();
  RequestText other_config = request_of("net1", "x");
  other_config.request.config = R"({"cniVersion":"1.0.0","name":"x","type":"fake","mtu":1400})";
  RequestText other_mac = request_of("net1", "x");
  other_mac.mac = "02:03:04:05:06:07";

  for (const RequestText& what : {request_of("net1", "y"), other_config, other_mac}) {
    auto added = plug(what);
    ASSERT_FALSE(added);
    EXPECT_THAT(added.error().text(), HasSubstr("interface name net1 already exists"));
  }
  EXPECT_THAT(node_.runs(), IsEmpty());
}

// 05, R3: the same network, cold-plugged
TEST_F(HotplugAdd, TakesWhatTheContainersAddMadeForItsOwn) {
  ASSERT_TRUE(add(request(delegates({"a", "b"}))));
  forget();

  auto added = plug(request_of("net1", "b"));

  ASSERT_TRUE(added) << added.error().text();
  EXPECT_THAT(node_.runs(), IsEmpty());
}

// 05, R7: an absent name arrives as eth0
TEST_F(HotplugAdd, RefusesTheClusterNetworksInterface) {
  ASSERT_TRUE(add(request(delegates({"a"}))));
  forget();

  auto added = plug(request_of("eth0", "a"));

  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().text(), HasSubstr("already exists"));
  EXPECT_THAT(node_.runs(), IsEmpty());
}

// 05, 4: row 8
TEST_F(HotplugAdd, RefusesNamesThatNoInterfaceCanHave) {
  for (const std::string name : {"", "sixteen-bytes-xx", "a/b", "."}) {
    EXPECT_FALSE(plug(request_of(name, "x"))) << name;
    EXPECT_FALSE(unplug(request_of(name, "x"))) << name;
  }
  EXPECT_FALSE(plug(request_of("net1", "no/name")));
  EXPECT_FALSE(unplug(request_of("net1", "no/name")));
  EXPECT_THAT(node_.runs(), IsEmpty());
}

// A link that another program made stays, and nothing is deleted (02-F54).
TEST_F(HotplugAdd, LeavesAForeignLinkAlone) {
  node_.links.namespaces["/ns"].insert("net1");

  auto added = plug(request_of("net1", "x"));

  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().text(),
              HasSubstr(R"(cannot set "fake" interface name to "net1": interface name net1)"));
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(node_.records.records, IsEmpty());
}

// 05, R10
TEST_F(HotplugAdd, GivesAnEmptyResultAVersion) {
  for (const std::string answer : {"{}", "null"}) {
    node_.plugins.answers["ADD x"] = answer;

    auto added = plug(request_of("net1", "x"));

    ASSERT_TRUE(added) << answer << ": " << added.error().text();
    EXPECT_EQ(json::dump(cni::to_json(cni::convert(*added, "1.1.0").value())),
              R"({"cniVersion":"1.1.0"})");
    ASSERT_TRUE(unplug(request_of("net1", "x")));
  }
}

// 05, 3.7: this attachment and no other
TEST_F(HotplugAdd, TakesOnlyItselfDownWhenItsPluginFails) {
  ASSERT_TRUE(add(request(delegates({"a", "b"}))));
  ASSERT_TRUE(plug(request_of("net5", "y")));
  forget();
  node_.plugins.errors.insert_or_assign("ADD x", cni::coded(static_cast<cni::Code>(42), "no"));

  RequestText what = request_of("net9", "x");
  what.mac = "02:03:04:05:06:07";
  auto added = plug(what);

  ASSERT_FALSE(added);
  EXPECT_THAT(added.error(), HasCode(42));
  EXPECT_THAT(node_.runs(), ElementsAre("ADD x net9", "DEL x net9"));
  EXPECT_EQ(cni::find_arg(node_.plugins.runs.at(1).args, "MAC"), nullptr);
  EXPECT_EQ(recorded().find("net9"), nullptr);
  EXPECT_NE(recorded().find("net5"), nullptr);
}

TEST_F(HotplugAdd, StaysInTheBooksWhenItCannotBeTakenDown) {
  node_.plugins.errors.insert_or_assign("ADD x", Error(Errc::kPlugin, "no"));
  node_.plugins.errors.insert_or_assign("DEL x", Error(Errc::kPlugin, "no"));

  ASSERT_FALSE(plug(request_of("net1", "x")));

  ASSERT_NE(recorded().find("net1"), nullptr);
  EXPECT_EQ(recorded().find("net1")->state, model::AttachmentState::kRemoving);
}

// 05, 3.10: what an operation that was cut off left goes before a new one begins
TEST_F(HotplugAdd, ClearsAwayWhatWasCutOff) {
  node_.plugins.errors.insert_or_assign("ADD x", Error(Errc::kPlugin, "no"));
  node_.plugins.errors.insert_or_assign("DEL x", Error(Errc::kPlugin, "no"));
  ASSERT_FALSE(plug(request_of("net1", "x")));
  node_.plugins.errors.clear();
  forget();

  auto added = plug(request_of("net1", "y"));

  ASSERT_TRUE(added) << added.error().text();
  EXPECT_THAT(node_.runs(), ElementsAre("DEL x net1", "ADD y net1"));
  EXPECT_EQ(recorded().find("net1")->cni_name, "y");
}

// 03, 2.11: the client has left
TEST_F(HotplugAdd, IsUndoneIfItsCallerLeaves) {
  RequestText what = request_of("net1", "x");
  what.request.caller = std::make_shared<chain::Caller>();
  node_.plugins.on_run = [&](const chain::PluginRun& run) {
    if (run.command == "ADD") what.request.caller->leave();
  };

  auto added = plug(what);

  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code(), Errc::kCancelled);
  EXPECT_THAT(node_.runs(), ElementsAre("ADD x net1", "DEL x net1"));
  EXPECT_EQ(recorded().find("net1"), nullptr);
}

// Nothing begins that cannot be recorded.
TEST_F(HotplugAdd, RunsNothingIfItCannotBeNoted) {
  node_.records.errors.insert_or_assign("write record c1", Error(Errc::kIo, "disk full"));

  auto added = plug(request_of("net1", "x"));

  ASSERT_FALSE(added);
  EXPECT_THAT(node_.runs(), IsEmpty());
}

// 05, R2; 05, 4: rows 5 and 6: what was recorded counts, not what the client says now (R6)
TEST_F(HotplugDel, RunsWhatAddRan) {
  RequestText what = request_of("net1", "x");
  what.cni_args = json::Object{{"a", "b"}};
  what.ips = {"10.1.1.11/24"};
  what.request.config =
      R"({"cniVersion":"1.0.0","name":"x","type":"fake","capabilities":{"ips":true}})";
  ASSERT_TRUE(plug(what));
  forget();
  RequestText now = request_of("net1", "x");
  now.request.config = R"({"cniVersion":"0.3.1","name":"x","type":"other"})";

  auto removed = unplug(now);

  ASSERT_TRUE(removed) << removed.error().text();
  ASSERT_THAT(node_.runs(), ElementsAre("DEL x net1"));
  const json::Object config = node_.plugins.config(0);
  EXPECT_EQ(json::dump(*config.find("args")), R"({"cni":{"a":"b"}})");
  EXPECT_EQ(json::dump(*config.find("runtimeConfig")), R"({"ips":["10.1.1.11/24"]})");
  EXPECT_NE(config.find("prevResult"), nullptr);
  EXPECT_EQ(node_.plugins.runs.at(0).binary, "/bin/fake");
  EXPECT_EQ(cni::find_arg(node_.plugins.runs.at(0).args, "IP"), nullptr);
  EXPECT_EQ(recorded().find("net1"), nullptr);
  EXPECT_THAT(node_.records.results, IsEmpty());
}

// 05, R6: the recorded result, too
TEST_F(HotplugDel, GivesTheRecordedResultIfTheCacheLostIt) {
  ASSERT_TRUE(plug(request_of("net1", "x")));
  node_.records.results.clear();
  forget();

  ASSERT_TRUE(unplug(request_of("net1", "x")));

  EXPECT_NE(node_.plugins.config(0).find("prevResult"), nullptr);
  EXPECT_THAT(node_.records.results, IsEmpty());
}

TEST_F(HotplugDel, LeavesNoRecordOfAContainerThatHasNothingElse) {
  ASSERT_TRUE(plug(request_of("net1", "x")));
  ASSERT_TRUE(plug(request_of("net2", "y")));

  ASSERT_TRUE(unplug(request_of("net1", "x")));
  EXPECT_THAT(recorded().attachments, SizeIs(1));
  ASSERT_TRUE(unplug(request_of("net2", "y")));

  EXPECT_THAT(node_.records.records, IsEmpty());
  EXPECT_THAT(node_.records.results, IsEmpty());
}

// 05, R5; 05, 4: row 6
TEST_F(HotplugDel, RunsTheRequestsConfigurationIfNobodyKnowsTheInterface) {
  ASSERT_TRUE(unplug(request_of("net1", "x")));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL x net1"));
  EXPECT_THAT(node_.records.records, IsEmpty());
}

// 05, 4: row 7; 03, 12: row 67
TEST_F(HotplugDel, TellsOfAFailureAndForgetsNothing) {
  ASSERT_TRUE(plug(request_of("net1", "x")));
  node_.plugins.errors.insert_or_assign("DEL x", Error(Errc::kPlugin, "will not"));

  auto removed = unplug(request_of("net1", "x"));

  ASSERT_FALSE(removed);
  EXPECT_THAT(removed.error().text(), HasSubstr("will not"));
  ASSERT_NE(recorded().find("net1"), nullptr);
  EXPECT_EQ(recorded().find("net1")->state, model::AttachmentState::kRemoving);
  node_.plugins.errors.clear();
  EXPECT_TRUE(unplug(request_of("net1", "x")));
  EXPECT_EQ(recorded().find("net1"), nullptr);
}

// 05, R4; 05, 4: row 4: a controller takes back an ADD that was refused
TEST_F(HotplugDel, LeavesAnotherNetworksInterfaceAlone) {
  ASSERT_TRUE(plug(request_of("net1", "x")));
  ASSERT_FALSE(plug(request_of("net1", "y")));
  forget();

  ASSERT_TRUE(unplug(request_of("net1", "y")));

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(node_.links.namespaces["/ns"], Contains("net1"));
}

// 05, R4; 05, 4: row 69
TEST_F(HotplugDel, LeavesAnInterfaceAloneThatIsPartOfAnAttachment) {
  node_.plugins.answers["ADD x"] =
      R"({"cniVersion":"1.0.0","interfaces":[{"name":"net1","sandbox":"/ns"},)"
      R"({"name":"net1b","sandbox":"/ns"},{"name":"veth1"}]})";
  ASSERT_TRUE(plug(request_of("net1", "x")));
  forget();

  ASSERT_TRUE(unplug(request_of("net1b", "x")));
  EXPECT_THAT(node_.runs(), IsEmpty());

  ASSERT_TRUE(unplug(request_of("veth1", "x")));  // one of the host's is not
  EXPECT_THAT(node_.runs(), ElementsAre("DEL x veth1"));
}

// 05, R11; 05, 4: row 9
TEST_F(HotplugDel, RefusesTheClusterNetwork) {
  ASSERT_TRUE(add(request(delegates({"a", "b"}))));
  forget();

  EXPECT_FALSE(unplug(request_of("eth0", "a")));
  EXPECT_FALSE(unplug(request_of("eth0", "other")));
  EXPECT_THAT(node_.runs(), IsEmpty());
}

// 05, R2; 05, 4: rows 13 and 61
TEST_F(HotplugDel, TakesAColdPluggedOneOutOfTheScratchFileAndLeavesTheOthersTheirNames) {
  ASSERT_TRUE(add(request(delegates({"a", "b", "c", "d"}))));
  forget();

  ASSERT_TRUE(unplug(request_of("net1", "b")));

  const json::Array& scratch = node_.records.scratch.at("c1");
  ASSERT_THAT(scratch, SizeIs(3));
  EXPECT_EQ(scratch[0].as_object()->find("ifnameRequest"), nullptr);
  EXPECT_EQ(*scratch[1].as_object()->find("ifnameRequest")->as_string(), "net2");
  EXPECT_EQ(*scratch[2].as_object()->find("ifnameRequest")->as_string(), "net3");
  EXPECT_THAT(node_.records.unsynced, Not(Contains("c1")));
  forget();
  ASSERT_TRUE(check(request(delegates({"a"}))));
  EXPECT_THAT(node_.runs(), ElementsAre("CHECK a eth0", "CHECK c net2", "CHECK d net3"));
  forget();
  ASSERT_TRUE(del(request(delegates({"a"}))));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL d net3", "DEL c net2", "DEL a eth0"));
}

// 05, 3.2: made by another multus, without any record of ours
TEST_F(HotplugDel, WorksFromScratchFileAndResultCacheAlone) {
  ASSERT_TRUE(add(request(delegates({"a", "b", "c"}))));
  node_.records.records.clear();
  forget();

  EXPECT_FALSE(unplug(request_of("eth0", "a")));
  ASSERT_TRUE(unplug(request_of("net2", "c")));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL c net2"));
  EXPECT_THAT(node_.records.scratch.at("c1"), SizeIs(2));
}

// What only the result cache knows is the work of another multus's /delegate.
TEST_F(HotplugDel, KnowsWhatOnlyTheResultCacheKnows) {
  ASSERT_TRUE(add(request(delegates({"a"}))));
  ASSERT_TRUE(plug(request_of("net7", "x")));
  node_.records.records.clear();
  forget();

  ASSERT_TRUE(unplug(request_of("net7", "y")));  // 05, R4
  EXPECT_THAT(node_.runs(), IsEmpty());
  ASSERT_TRUE(unplug(request_of("net7", "x")));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL x net7"));
}

TEST_F(HotplugDel, ProtectsEth0WithoutAReadableScratchFile) {
  ASSERT_TRUE(add(request(delegates({"a", "b"}))));
  node_.records.records.clear();
  node_.records.scratch.clear();
  node_.records.damaged.insert("c1");
  forget();

  EXPECT_FALSE(unplug(request_of("eth0", "a")));
  EXPECT_TRUE(unplug(request_of("net1", "b")));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1"));
}

TEST_F(HotplugDel, IsNotStoppedByADamagedRecord) {
  ASSERT_TRUE(add(request(delegates({"a", "b"}))));
  node_.records.damaged_records.insert("c1");

  EXPECT_TRUE(unplug(request_of("net1", "b")));
  EXPECT_TRUE(logged("attachment record"));
}

// 03, 12: row 68
TEST_F(HotplugCheck, RunsAListWithItsResult) {
  RequestText what = request_of("net1", "x");
  what.request.config =
      R"({"cniVersion":"1.0.0","name":"x","plugins":[{"type":"fake"},{"type":"tuning"}]})";
  what.mac = "02:03:04:05:06:07";
  ASSERT_TRUE(plug(what));
  forget();
  what.mac.clear();

  auto checked = check_plugged(what);

  ASSERT_TRUE(checked) << checked.error().text();
  EXPECT_THAT(node_.runs(), ElementsAre("CHECK x net1", "CHECK x net1"));
  EXPECT_NE(node_.plugins.config(0).find("prevResult"), nullptr);
  EXPECT_EQ(*cni::find_arg(node_.plugins.runs.at(0).args, "MAC"), "02:03:04:05:06:07");
}

TEST_F(HotplugCheck, KeepsTheCodeOfThePlugin) {
  ASSERT_TRUE(plug(request_of("net1", "x")));
  node_.plugins.errors.insert_or_assign("CHECK x", cni::coded(static_cast<cni::Code>(42), "no"));

  auto checked = check_plugged(request_of("net1", "x"));

  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error(), HasCode(42));
}

TEST_F(HotplugCheck, StatusAsksThePluginWithoutAContainer) {
  RequestText what = request_of("", "x", "1.1.0");
  what.request.container_id.clear();
  what.request.args.clear();

  auto answered = status_of(what);

  ASSERT_TRUE(answered) << answered.error().text();
  EXPECT_THAT(node_.runs(), ElementsAre("STATUS x"));
}

}  // namespace
}  // namespace mnet::hotplug
