// What a container's own DEL, CHECK and GC, and requests beside it, make of networks that were
// plugged in later (05, 3.11).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "aio/group.h"
#include "aio/run.h"
#include "attach/node_fixture.h"
#include "attach/request_text.h"
#include "base/error.h"
#include "base/text.h"
#include "cni/args.h"
#include "cni/error.h"
#include "hotplug/hotplug_fixture.h"
#include "json/json.h"
#include "model/attachment_record.h"

namespace mnet::hotplug {
namespace {

using attach::HasCode;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class PluggedIn : public HotplugTest {
 protected:
  void plug_and_forget(const std::string& ifname, const std::string& network,
                       const std::string& version = "1.0.0") {
    auto added = plug(request_of(ifname, network, version));
    ASSERT_TRUE(added) << added.error().text();
    forget();
  }
  static attach::RequestText gc_request(const std::string& valid) {
    attach::RequestText what =
        request(cat(delegates({"a"}, "1.1.0"), R"(,"cni.dev/valid-attachments":)", valid));
    what.container_id.clear();
    return what;
  }
  // What a GC run was told is valid, as `<container>/<ifname>`.
  std::vector<std::string> valid_of(std::size_t run) {
    std::vector<std::string> ids;
    const json::Object config = node_.plugins.config(run);
    for (const json::Value& one : *config.find("cni.dev/valid-attachments")->as_array()) {
      ids.push_back(cat(*one.as_object()->find("containerID")->as_string(), "/",
                        *one.as_object()->find("ifname")->as_string()));
    }
    return ids;
  }
  void set_state(const std::string& ifname, model::AttachmentState state) {
    model::AttachmentRecord record = recorded();
    record.find(ifname)->state = state;
    node_.records.records["c1"] = model::encode_record(record);
  }

  aio::Group group_{loop_.get_executor(), log_};
};

// 05, 4: row 12; of row 63 the pod's DEL
TEST_F(PluggedIn, GoesFirstAtTheContainersDelAndInReverseOrder) {
  ASSERT_TRUE(add(request(delegates({"a", "b"}))));
  plug_and_forget("net7", "x");
  plug_and_forget("net5", "y");

  ASSERT_TRUE(del(request(delegates({"a", "b"}))));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL y net5", "DEL x net7", "DEL b net1", "DEL a eth0"));
  EXPECT_THAT(node_.records.records, IsEmpty());
  EXPECT_THAT(node_.records.scratch, IsEmpty());
  EXPECT_THAT(node_.records.results, IsEmpty());
}

// The record holds the configurations of all of them, and is read whole.
TEST_F(PluggedIn, IsRefusedIfItMakesTheRecordTooLarge) {
  ASSERT_TRUE(add(request(delegates({"a"}))));
  const auto large = [](const std::string& ifname) {
    RequestText what = request_of(ifname, ifname);
    what.request.config.insert(1, cat(R"("note":")", std::string(500'000, 'x'), R"(",)"));
    return what;
  };
  ASSERT_TRUE(plug(large("net1")));
  ASSERT_TRUE(plug(large("net2")));
  forget();

  const auto refused = plug(large("net3"));

  EXPECT_THAT(refused.error().text(), HasSubstr("too large together"));
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_EQ(recorded().find("net3"), nullptr);
  ASSERT_TRUE(del(request(delegates({"a"}))));
}

TEST_F(PluggedIn, GetsItsRecordedResultAtTheContainersDelIfTheCacheLostIt) {
  ASSERT_TRUE(add(request(delegates({"a"}))));
  plug_and_forget("net7", "x");
  node_.records.results.erase("x-c1-net7");

  ASSERT_TRUE(del(request(delegates({"a"}))));

  EXPECT_NE(node_.plugins.config(0).find("prevResult"), nullptr);
  EXPECT_THAT(node_.records.results, IsEmpty());
}

// Its errors count like all others, and a retry does not repeat completed work.
TEST_F(PluggedIn, IsTriedAgainWithTheContainersDelUntilItIsGone) {
  const std::string members = cat(delegates({"a", "b"}), R"(,"retryDeleteOnError":true)");
  ASSERT_TRUE(add(request(members)));
  plug_and_forget("net7", "x");
  plug_and_forget("net8", "y");
  node_.plugins.errors.insert_or_assign("DEL x", Error(Errc::kPlugin, "busy"));

  auto first = del(request(members));

  ASSERT_FALSE(first);
  EXPECT_THAT(first.error(), HasCode(cni::Code::kTryAgainLater));
  EXPECT_EQ(recorded().state, model::RecordState::kDeleting);
  EXPECT_EQ(recorded().find("net8"), nullptr);
  ASSERT_NE(recorded().find("net7"), nullptr);
  node_.plugins.errors.clear();
  forget();
  ASSERT_TRUE(del(request(members)));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL x net7"));
  EXPECT_THAT(node_.records.records, IsEmpty());
  EXPECT_THAT(node_.records.scratch, IsEmpty());
}

TEST_F(PluggedIn, StaysOnRecordIfItsDelFailsAndTheRuntimeDoesNotTryAgain) {
  ASSERT_TRUE(add(request(delegates({"a"}))));
  plug_and_forget("net7", "x");
  node_.plugins.errors.insert_or_assign("DEL x", Error(Errc::kPlugin, "busy"));

  ASSERT_TRUE(del(request(delegates({"a"}))));

  EXPECT_NE(recorded().find("net7"), nullptr);
  EXPECT_TRUE(node_.records.results.contains("x-c1-net7"));
  node_.plugins.errors.clear();
  forget();
  ASSERT_TRUE(del(request(delegates({"a"}))));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL x net7"));
}

// 05, 3.2: without or with a damaged record it is a left-over of the result cache
TEST_F(PluggedIn, IsFoundInTheResultCacheWithoutARecord) {
  for (const bool is_damaged : {false, true}) {
    ASSERT_TRUE(add(request(delegates({"a"}))));
    plug_and_forget("net7", "x");
    node_.records.records.clear();
    if (is_damaged) node_.records.damaged_records.insert("c1");

    ASSERT_TRUE(del(request(delegates({"a"}))));

    EXPECT_THAT(node_.runs(), ElementsAre("DEL a eth0", "DEL x net7"));
    EXPECT_THAT(node_.records.damaged_records, IsEmpty());
  }
}

// A container that never had an ADD of ours.
TEST_F(PluggedIn, IsAllThatIsDeletedOfAForeignContainer) {
  plug_and_forget("net7", "x");

  ASSERT_TRUE(del(request(delegates({"a"}))));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL x net7"));
  EXPECT_THAT(node_.records.records, IsEmpty());
}

// A crash in the middle of an ADD, before its result was cached, and a lost scratch file: only the
// record knows what may be there.
TEST_F(PluggedIn, RecordHelpsWhereScratchFileAndCacheAreLost) {
  ASSERT_TRUE(add(request(delegates({"a", "b"}))));
  node_.records.scratch.clear();
  node_.records.results.erase("a-c1-eth0");
  forget();

  ASSERT_TRUE(del(request(delegates({"other"}))));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1", "DEL a eth0"));
  EXPECT_THAT(node_.records.records, IsEmpty());
}

TEST_F(PluggedIn, IsCheckedBehindTheListIfItIsWhole) {
  ASSERT_TRUE(add(request(delegates({"a"}))));
  plug_and_forget("net7", "x");
  plug_and_forget("net8", "y");
  plug_and_forget("net9", "old", "0.3.1");
  set_state("net8", model::AttachmentState::kRemoving);

  ASSERT_TRUE(check(request(delegates({"a"}))));

  EXPECT_THAT(node_.runs(), ElementsAre("CHECK a eth0", "CHECK x net7"));
  EXPECT_NE(node_.plugins.config(1).find("prevResult"), nullptr);
}

TEST_F(PluggedIn, FailsTheContainersCheckOnlyIfAsked) {
  ASSERT_TRUE(add(request(delegates({"a"}))));
  plug_and_forget("net7", "x");
  node_.plugins.errors.insert_or_assign("CHECK x", cni::coded(static_cast<cni::Code>(42), "gone"));

  EXPECT_TRUE(check(request(delegates({"a"}))));
  auto checked = check(request(R"("checkNetworks":"all",)" + delegates({"a"})));

  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error(), HasCode(42));
}

TEST_F(PluggedIn, HalfRemovedColdPluggedOnesAreNotChecked) {
  ASSERT_TRUE(add(request(delegates({"a", "b"}))));
  node_.plugins.errors.insert_or_assign("DEL b", Error(Errc::kPlugin, "busy"));
  ASSERT_FALSE(unplug(request_of("net1", "b")));
  forget();

  ASSERT_TRUE(check(request(delegates({"a"}))));
  EXPECT_THAT(node_.runs(), ElementsAre("CHECK a eth0"));
}

// 05, 4: row 59
TEST_F(PluggedIn, IsValidForGcIfItsContainerIs) {
  ASSERT_TRUE(add(request(delegates({"a"}, "1.1.0"))));
  plug_and_forget("net7", "x", "1.1.0");
  set_state("net7", model::AttachmentState::kAdding);
  node_.records.results.erase("x-c1-net7");

  auto collected = gc(gc_request(R"([{"containerID":"c1","ifname":"eth0"}])"));

  ASSERT_TRUE(collected) << collected.error().text();
  ASSERT_THAT(node_.runs(), ElementsAre("GC a"));
  EXPECT_THAT(valid_of(0), ElementsAre("c1/eth0", "c1/net7"));
  EXPECT_TRUE(node_.records.records.contains("c1"));
}

// 05, 4: row 60
TEST_F(PluggedIn, IsDeletedByGcIfItsContainerIsNotListed) {
  ASSERT_TRUE(add(request(delegates({"a"}, "1.1.0"))));
  plug_and_forget("net7", "x", "1.1.0");
  node_.records.results.clear();

  auto collected = gc(gc_request("[]"));

  ASSERT_TRUE(collected) << collected.error().text();
  EXPECT_THAT(node_.runs(), ElementsAre("DEL x net7", "DEL a eth0", "GC a"));
  EXPECT_EQ(*cni::find_arg(node_.plugins.runs[0].args, "K8S_POD_NAME"), "p1");
  EXPECT_THAT(node_.records.records, IsEmpty());
  EXPECT_THAT(node_.records.scratch, IsEmpty());
}

TEST_F(PluggedIn, RecordAloneIsEnoughForGc) {
  plug_and_forget("net7", "x", "1.1.0");
  node_.records.results.clear();

  ASSERT_TRUE(gc(gc_request("[]")));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL x net7", "GC a"));
  EXPECT_THAT(node_.records.records, IsEmpty());
}

// 05, R1; 02, 0.5: one at a time; a DEL of the container ends the ADD and waits for its rollback
TEST_F(PluggedIn, IsUndoneWhenTheContainerIsDeletedMeanwhile) {
  ASSERT_TRUE(add(request(delegates({"a"}))));
  forget();
  auto hold = node_.plugins.hold("ADD x");
  group_.spawn("other", plugging(request_of("net7", "x")));
  auto reached = aio::run(loop_, hold->reached.wait());
  ASSERT_TRUE(reached);
  group_.spawn("other", deleting(request(delegates({"a"}))));
  loop_.poll();
  EXPECT_THAT(node_.runs(), IsEmpty());

  hold->release.set();
  ASSERT_TRUE(aio::run(loop_, group_.join()));

  EXPECT_THAT(node_.runs(), ElementsAre("ADD x net7", "DEL x net7", "DEL a eth0"));
  EXPECT_THAT(node_.records.records, IsEmpty());
}

// 05, R1: one after the other for one container, side by side for two
TEST_F(PluggedIn, WaitsForItsTurn) {
  auto hold = node_.plugins.hold("ADD x");
  group_.spawn("other", plugging(request_of("net1", "x")));
  ASSERT_TRUE(aio::run(loop_, hold->reached.wait()));
  group_.spawn("other", plugging(request_of("net2", "y")));
  RequestText other = request_of("net1", "z");
  other.request.container_id = "c2";
  other.request.netns = "/ns2";
  node_.links.namespaces["/ns2"] = {};
  group_.spawn("other", plugging(other));
  loop_.poll();
  EXPECT_THAT(node_.runs(), ElementsAre("ADD z net1"));

  hold->release.set();
  ASSERT_TRUE(aio::run(loop_, group_.join()));

  EXPECT_THAT(node_.runs(), ElementsAre("ADD z net1", "ADD x net1", "ADD y net2"));
}

// While a plugin runs, the record tells GC what to leave alone.
TEST_F(PluggedIn, IsValidForGcWhileItIsMade) {
  ASSERT_TRUE(add(request(delegates({"a"}, "1.1.0"))));
  forget();
  auto hold = node_.plugins.hold("ADD x");
  group_.spawn("other", plugging(request_of("net7", "x", "1.1.0")));
  ASSERT_TRUE(aio::run(loop_, hold->reached.wait()));

  auto collected = gc(gc_request("[]"));

  ASSERT_TRUE(collected) << collected.error().text();
  EXPECT_THAT(valid_of(0), Contains("c1/net7"));
  hold->release.set();
  ASSERT_TRUE(aio::run(loop_, group_.join()));
  EXPECT_THAT(node_.runs(), ElementsAre("GC a", "ADD x net7"));
}

// A repeated ADD of the runtime leaves the record as it is (05, 3.11).
TEST_F(PluggedIn, SurvivesARepeatedAddOfTheContainer) {
  ASSERT_TRUE(add(request(delegates({"a"}))));
  plug_and_forget("net7", "x");

  ASSERT_TRUE(add(request(delegates({"a"}))));

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_NE(recorded().find("net7"), nullptr);
}

// One whose interfaces are gone replaces it; what was plugged in goes with it.
TEST_F(PluggedIn, GoesWhenTheContainerIsAddedAnew) {
  ASSERT_TRUE(add(request(delegates({"a"}))));
  plug_and_forget("net7", "x");
  node_.links.namespaces["/ns"].clear();

  ASSERT_TRUE(add(request(delegates({"a"}))));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL x net7", "DEL a eth0", "ADD a eth0"));
  EXPECT_THAT(recorded().attachments, SizeIs(1));
}

}  // namespace
}  // namespace mnet::hotplug
