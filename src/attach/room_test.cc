// What requests take room for before they build anything (03, 2.11).
#include "attach/room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "attach/fake_ports.h"
#include "attach/node_fixture.h"
#include "attach/pod_fixture.h"
#include "attach/ports.h"
#include "attach/request_text.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "chain/plugins.h"
#include "cni/error.h"
#include "cni/result.h"
#include "model/objects.h"

namespace mnet::attach {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::SizeIs;

class RoomTest : public PodTest {
 protected:
  RoomTest() {
    define("small");
    define("large", "bridge", cat(R"(,"ballast":")", std::string(5000, 'x'), "\""));
  }
  Ports ports() {
    Ports all = node_.cluster_ports();
    all.room = &node_.room;
    return all;
  }
  Result<cni::NetResult> add() { return aio::run(loop_, bounded_.add(request(delegates({"a"})))); }
  Result<void> del() { return told(aio::run(loop_, bounded_.del(request(delegates({"a"}))))); }
  Result<void> collect() {
    return aio::run(loop_,
                    bounded_.gc(request(cat(delegates({"a"}),
                                            R"(,"cni.dev/valid-attachments":[{"containerID":"c1",)"
                                            R"("ifname":"eth0"}])"))));
  }
  void cut_pod() {
    auto cut = std::make_shared<model::PodObject>(*node_.source.pods["ns1/p1"]);
    for (auto& [key, text] : cut->annotations) text.clear();
    cut->is_cut = true;
    node_.source.cut_pods["ns1/p1"] = cut;
  }

  TextAttachments bounded_{ports(), log_, {.boot_id = "boot-1"}};
};

TEST_F(RoomTest, OrdinaryRequestsAskForNone) {
  add_pod("small,small");

  ASSERT_TRUE(add());
  ASSERT_TRUE(del());

  EXPECT_THAT(node_.room.taken, IsEmpty());
}

TEST_F(RoomTest, IsTakenOnceForAllNetworksBeforeTheyAreLookedForAndHeldToTheEnd) {
  add_pod("small,large,large");
  int held = -1;
  node_.room.free_weight = 3000;  // the status is small
  node_.room.on_take = [this] { EXPECT_THAT(node_.source.asked, IsEmpty()); };
  node_.plugins.on_run = [&](const chain::PluginRun&) { held = node_.room.held; };

  const auto added = add();

  ASSERT_TRUE(added) << added.error().text();
  EXPECT_THAT(node_.room.taken, ElementsAre(AllOf(Ge(10'000u), Le(15'000u))));
  EXPECT_EQ(node_.room.requests[0].ns, "ns1");
  EXPECT_EQ(node_.room.requests[0].purpose, RoomFor::kRequest);
  EXPECT_EQ(held, 1);
  EXPECT_EQ(node_.room.held, 0);
}

TEST_F(RoomTest, CountsWhatIsWrittenAndNotWhatIsRead) {
  define("escaped", "bridge", cat(R"(,"ballast":")", std::string(500, '<'), "\""));
  add_pod("escaped");

  ASSERT_TRUE(add());

  EXPECT_THAT(node_.room.taken, ElementsAre(Ge(3000u)));
}

TEST_F(RoomTest, CountsTheArgumentsOfThePodInEveryPlugin) {
  node_.source.add_network("ns1", "list",
                           R"({"name":"list","plugins":[{"type":"a"},{"type":"b"},{"type":"c"}]})");
  add_pod(cat(R"([{"name":"list","cni-args":{"b":")", std::string(600, 'x'), R"("}}])"));

  ASSERT_TRUE(add());

  EXPECT_THAT(node_.room.taken, ElementsAre(Ge(1800u)));
}

// Which networks it names shows only when it is read.
TEST_F(RoomTest, ALongAnnotationTakesAllThatARequestMayHaveUntilItIsRead) {
  add_pod(cat(R"([{"name":"small","cni-args":{"b":")", std::string(2000, 'x'), R"("}}])"));
  node_.plugins.on_run = [this](const chain::PluginRun&) {
    EXPECT_THAT(node_.room.kept, ElementsAre(AllOf(Ge(4000u), Le(8000u))));
  };

  ASSERT_TRUE(add());

  EXPECT_THAT(node_.room.taken, ElementsAre(kLargestWeight));
  EXPECT_THAT(node_.room.kept, SizeIs(1));
}

// Each of its entries repeats what the network's author wrote.
TEST_F(RoomTest, IsTakenForALongStatusBesideThatOfTheRequest) {
  add_pod("large");
  std::vector<std::string> interfaces;
  for (int i = 0; i < 20; ++i) {
    interfaces.push_back(cat(R"({"name":"e)", i, R"(","sandbox":"/ns"})"));
  }
  node_.plugins.answers["ADD large"] =
      cat(R"({"cniVersion":"1.0.0","dns":{"domain":")", std::string(500, '<'),
          R"("},"interfaces":[)", join(interfaces, ","), "]}");

  const auto added = add();

  ASSERT_TRUE(added) << added.error().text();
  ASSERT_THAT(node_.room.requests, SizeIs(2));
  EXPECT_EQ(node_.room.requests[1].purpose, RoomFor::kStatus);
  EXPECT_GE(node_.room.requests[1].weight, node_.source.statuses.at("ns1/p1").size());
  EXPECT_EQ(node_.room.requests[1].ns, "ns1");
}

TEST_F(RoomTest, APodThatIsKeptWithoutItsAnnotationsIsReadWhenItHasRoom) {
  add_pod("small");
  cut_pod();
  node_.room.on_take = [this] { EXPECT_THAT(node_.source.lookups, SizeIs(1)); };

  ASSERT_TRUE(add());

  EXPECT_THAT(node_.room.taken, ElementsAre(kLargestWeight));
  ASSERT_THAT(node_.source.lookups, SizeIs(2));
  EXPECT_FALSE(node_.source.lookups[1].may_be_cut);
  EXPECT_THAT(node_.runs(), SizeIs(2));
}

// Thin multus serves one request, and has no bound but that of its process.
TEST_F(RoomTest, WhereThereIsNoneAPodWithoutItsAnnotationsIsReadAllTheSame) {
  add_pod("small");
  cut_pod();
  Ports all = node_.cluster_ports();
  ASSERT_EQ(all.room, nullptr);
  TextAttachments unbounded(all, log_, {.boot_id = "boot-1"});

  ASSERT_TRUE(aio::run(loop_, unbounded.add(request(delegates({"a"})))));

  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "ADD small net1"));
}

TEST_F(RoomTest, ARequestThatGetsNoneFailsAndHasDoneNothing) {
  add_pod("large");
  node_.room.error = cni::coded(cni::Code::kTryAgainLater, "no room");

  const auto added = add();

  ASSERT_FALSE(added);
  EXPECT_THAT(added.error(), HasCode(cni::Code::kTryAgainLater));
  EXPECT_THAT(added.error().text(), HasSubstr("no room"));
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(node_.records.scratch, IsEmpty());
}

TEST_F(RoomTest, ADefinitionThatIsLargerThanWasKnownIsLeftForTheNextAttempt) {
  add_pod("large");
  node_.source.unknown = true;

  const auto added = add();

  ASSERT_FALSE(added);
  EXPECT_THAT(added.error(), HasCode(cni::Code::kTryAgainLater));
  EXPECT_THAT(node_.runs(), IsEmpty());
}

TEST_F(RoomTest, NetworksThatAreTooLargeForOneRequestAreRefusedBeforeAnyIsRead) {
  define("most", "bridge", cat(R"(,"ballast":")", std::string(kLargestWeight - 1000, 'x'), "\""));
  add_pod("most,most");

  const auto added = add();

  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().text(), HasSubstr(cat("more than ", kLargestWeight, " bytes")));
  EXPECT_THAT(node_.source.asked, IsEmpty());
  EXPECT_THAT(node_.room.taken, IsEmpty());
  EXPECT_THAT(node_.source.events, ElementsAre(HasSubstr("NoNetworkFound")));
}

TEST_F(RoomTest, RecordsAreLoadedWhenTheyHaveRoom) {
  add_pod("small");
  ASSERT_TRUE(add());
  node_.records.weights["c1"] = 7000;

  ASSERT_TRUE(del());

  EXPECT_THAT(node_.room.taken, ElementsAre(7000u));
  EXPECT_EQ(node_.room.requests[0].purpose, RoomFor::kDel);
  EXPECT_THAT(node_.records.scratch, IsEmpty());
  EXPECT_EQ(node_.room.held, 0);
}

TEST_F(RoomTest, WithoutARecordADelTakesItForWhatThePodAsksFor) {
  add_pod("large");
  ASSERT_TRUE(del());
  EXPECT_THAT(node_.room.taken, ElementsAre(Ge(5000u)));

  cut_pod();
  forget();
  ASSERT_TRUE(del());
  EXPECT_EQ(node_.room.taken.back(), kLargestWeight);
  EXPECT_THAT(node_.runs(), ElementsAre("DEL large net1", "DEL a eth0"));
}

TEST_F(RoomTest, WithoutRoomForItsRecordsADelKeepsThem) {
  add_pod("small");
  ASSERT_TRUE(add());
  forget();
  node_.records.weights["c1"] = 7000;
  node_.room.error = cni::coded(cni::Code::kTryAgainLater, "no room");

  const auto deleted = del();

  ASSERT_FALSE(deleted);
  EXPECT_THAT(deleted.error(), HasCode(cni::Code::kTryAgainLater));
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_THAT(node_.records.scratch, SizeIs(1));
}

// Waiting for more while it holds some, it could wait for another that does the same.
TEST_F(RoomTest, ARequestThatHoldsRoomTakesNoMoreForTheRecordsOfAnEarlierOne) {
  add_pod("large");
  ASSERT_TRUE(add());
  node_.records.weights["c1"] = 900'000;

  ASSERT_TRUE(add());

  EXPECT_THAT(node_.room.taken, SizeIs(2));
  EXPECT_THAT(node_.room.taken, testing::Each(Le(10'000u)));
}

TEST_F(RoomTest, GcTakesItForTheRecordsOfOneContainerAtATime) {
  add_pod("large");
  ASSERT_TRUE(add());
  node_.room.taken.clear();
  node_.room.on_take = [this] { EXPECT_EQ(node_.room.held, 0); };
  node_.records.weights["c1"] = 7000;

  const auto collected = collect();

  ASSERT_TRUE(collected) << collected.error().text();
  EXPECT_THAT(node_.room.taken,
              ElementsAre(7000u, 7000u, 7000u));  // the record, two configurations
  EXPECT_EQ(node_.room.requests.back().purpose, RoomFor::kDel);
  EXPECT_EQ(node_.room.held, 0);

  node_.room.taken.clear();
  node_.records.weights.clear();
  ASSERT_TRUE(collect());
  EXPECT_THAT(node_.room.taken, IsEmpty());
}

}  // namespace
}  // namespace mnet::attach
