// GC (02, 7.3).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "aio/group.h"
#include "aio/run.h"
#include "attach/attach.h"
#include "attach/node_fixture.h"
#include "attach/request_text.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "chain/plugins.h"
#include "cni/args.h"
#include "cni/cache.h"
#include "cni/error.h"
#include "json/json.h"

namespace mnet::attach {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class GcTest : public NodeTest {
 protected:
  void attach(const std::string& container_id, const std::string& members) {
    RequestText what = request(members);
    what.container_id = container_id;
    what.netns = "/" + container_id;
    node_.links.namespaces[what.netns];
    auto added = add(what);
    ASSERT_TRUE(added) << added.error().text();
    forget();
  }

  static RequestText collecting(const std::string& valid, const std::string& members) {
    RequestText what = request(
        cat(valid.empty() ? "" : cat(R"("cni.dev/valid-attachments":)", valid, ","), members));
    what.container_id.clear();
    what.ifname.clear();
    what.netns.clear();
    what.args.clear();
    return what;
  }

  static std::string valid(const std::vector<std::string>& ids) {
    std::vector<std::string> items;
    for (const std::string& id : ids) {
      items.push_back(cat(R"({"containerID":")", id, R"(","ifname":"eth0"})"));
    }
    return cat("[", join(items, ","), "]");
  }
};

// 02, 12: row 140
TEST_F(GcTest, DeletesWhatTheRuntimeNoLongerKnows) {
  attach("c1", delegates({"a", "b"}));
  attach("c2", delegates({"a", "b"}));

  ASSERT_TRUE(gc(collecting(valid({"c1"}), delegates({"a"}))));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1", "DEL a eth0"));
  EXPECT_EQ(node_.plugins.runs[0].container_id, "c2");
  EXPECT_EQ(node_.plugins.runs[0].netns, "");
  EXPECT_THAT(cni::args_text(node_.plugins.runs[0].args), HasSubstr("K8S_POD_NAME=p1"));
  EXPECT_FALSE(node_.records.scratch.contains("c2"));
  EXPECT_TRUE(node_.records.scratch.contains("c1"));
  EXPECT_THAT(node_.records.results, SizeIs(2));
}

TEST_F(GcTest, DeletesWhatOnlyTheResultCacheKnows) {
  attach("c2", delegates({"a"}));
  node_.records.scratch.clear();

  ASSERT_TRUE(gc(collecting("[]", delegates({"a"}))));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a eth0"));
  EXPECT_THAT(node_.records.results, IsEmpty());
}

// 02, 3.3: neither for what is stale nor for what lives, and the others get theirs.
TEST_F(GcTest, LeavesOutPluginsThatAreMultusItself) {
  attach("c1", delegates({"a", "b"}, "1.1.0"));
  attach("c2", delegates({"a", "b"}, "1.1.0"));
  for (const char* id : {"c1", "c2"}) {
    node_.records.scratch.erase(id);
    node_.records.records.erase(id);
    node_.records.results.at(cat("b-", id, "-net1")).config =
        R"({"cniVersion":"1.1.0","name":"b","plugins":[{"type":"multus"},{"type":"fake"}]})";
  }

  ASSERT_TRUE(gc(collecting(valid({"c1"}), delegates({"a"}, "1.1.0"))));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1", "DEL a eth0", "GC a", "GC b"));
  for (const chain::PluginRun& run : node_.plugins.runs) EXPECT_EQ(run.binary, "/bin/fake");
  EXPECT_TRUE(logged(R"(GC of network "b" skips a plugin: type "multus" is multus itself)"));
}

// Any file in `cniDir` has the name of some container.
TEST_F(GcTest, LeavesAFileAloneThatIsNotAScratchFile) {
  node_.records.scratch["README"] = *json::parse(R"(["read", "me"])")->as_array();

  EXPECT_TRUE(gc(collecting(valid({"c1"}), delegates({"a"}))));

  EXPECT_TRUE(node_.records.scratch.contains("README"));
  EXPECT_TRUE(logged("GC leaves the file README in"));
}

TEST_F(GcTest, LeavesEntriesOfTheRuntimeAlone) {
  attach("c1", delegates({"a"}, "1.1.0"));
  for (const char* id : {"c1", "c2"}) {
    cni::CacheEntry entry = node_.records.results.at("a-c1-eth0");
    entry.network = "multus";
    entry.container_id = id;
    entry.config = R"({"cniVersion":"1.1.0","name":"multus","type":"multus-shim"})";
    node_.records.results.insert_or_assign(cat("multus-", id, "-eth0"), entry);
  }

  const auto collected = gc(collecting(valid({"c1"}), delegates({"a"}, "1.1.0")));

  EXPECT_TRUE(collected) << collected.error().text();
  EXPECT_THAT(node_.runs(), ElementsAre("GC a"));
  EXPECT_THAT(node_.records.results, SizeIs(3));
}

// 02, 12: row 141
TEST_F(GcTest, TouchesNothingWithoutTheRuntimesList) {
  attach("c1", delegates({"a"}, "1.1.0"));

  EXPECT_TRUE(gc(collecting("", delegates({"a"}, "1.1.0"))));
  EXPECT_THAT(node_.calls, IsEmpty());
}

TEST_F(GcTest, ReadsTheListUnderItsOldNameToo) {
  attach("c2", delegates({"a"}));
  RequestText what = collecting("", cat(R"("cni.dev/attachments":[],)", delegates({"a"})));

  EXPECT_TRUE(gc(what));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL a eth0"));
}

// 02, 12: row 142
TEST_F(GcTest, TellsEveryNetworkThatKnowsGcAllThatIsValid) {
  attach("c1", R"("delegates":[{"cniVersion":"1.1.0","name":"a","type":"x"},)"
               R"({"cniVersion":"1.1.0","name":"b","type":"x"},)"
               R"({"cniVersion":"1.0.0","name":"c","type":"x"}])");

  ASSERT_TRUE(gc(collecting(valid({"c1", "unknown"}),
                            R"("delegates":[{"cniVersion":"1.1.0","name":"a","type":"x"}])")));

  EXPECT_THAT(node_.runs(), ElementsAre("GC a", "GC b"));
  const json::Value all =
      json::parse(
          R"([{"containerID":"c1","ifname":"eth0"},{"containerID":"c1","ifname":"net1"},)"
          R"({"containerID":"c1","ifname":"net2"},{"containerID":"unknown","ifname":"eth0"}])")
          .value();
  EXPECT_EQ(*node_.plugins.config(1).find("cni.dev/valid-attachments"), all);
  EXPECT_EQ(*node_.plugins.config(1).find("cni.dev/attachments"), all);
}

// The author of a definition chooses its CNI name.
TEST_F(GcTest, TellsNetworksApartThatShareAName) {
  const std::string one = R"({"cniVersion":"1.1.0","name":"b","type":"x","args":{"cni":{"i":1}}})";
  const std::string same = R"({"cniVersion":"1.1.0","name":"b","type":"x","deviceID":"d"})";
  const std::string other = R"({"cniVersion":"1.1.0","name":"b","type":"y"})";
  const std::string master = R"("delegates":[{"cniVersion":"1.0.0","name":"a","type":"x"},)";
  attach("c1", cat(master, other, "]"));
  attach("c2", cat(master, one, "]"));
  attach("c3", cat(master, same, "]"));

  ASSERT_TRUE(gc(collecting(valid({"c1", "c2", "c3"}), delegates({"a"}))));

  EXPECT_THAT(node_.runs(), ElementsAre("GC b", "GC b"));
  EXPECT_EQ(*node_.plugins.config(0).find("type"), json::Value("y"));
}

// Thin multus: no other process could attach a pod while one network's plugins collected.
TEST_F(GcTest, LetsOthersInBetweenNetworksAndKeepsWhatTheyAttach) {
  const std::string conf = R"("delegates":[{"cniVersion":"1.1.0","name":"a","type":"x"},)"
                           R"({"cniVersion":"1.1.0","name":"b","type":"x"}])";
  attach("c1", conf);
  Options options;
  options.let_others_in = [this]() -> Result<void> {
    EXPECT_THAT(node_.runs(), ElementsAre("GC a"));
    cni::CacheEntry entry = node_.records.results.at("b-c1-net1");
    entry.container_id = "c2";
    node_.records.results["b-c2-net1"] = entry;
    return {};
  };
  TextAttachments collector(node_.ports(), log_, options);

  ASSERT_TRUE(aio::run(loop_, collector.gc(collecting(valid({"c1"}), conf))));

  EXPECT_THAT(node_.runs(), ElementsAre("GC a", "GC b"));
  const std::string told = json::dump(*node_.plugins.config(1).find("cni.dev/valid-attachments"));
  EXPECT_THAT(told, HasSubstr(R"({"containerID":"c2","ifname":"net1"})"));
}

// Where other processes do requests. Authors of definitions choose how long a DEL takes.
TEST_F(GcTest, DeletesStaleContainersUnderTheirOwnLocksAndLeavesThoseThatWereMadeAnew) {
  for (const char* id : {"anew", "busy", "gone"}) attach(id, delegates({"a"}));
  std::vector<std::string> turns;
  Options options;
  options.let_others_in = [&turns]() -> Result<void> {
    turns.emplace_back("all");
    return {};
  };
  options.lock_one = [&](const std::string& id) -> Result<std::shared_ptr<void>> {
    turns.push_back(id);
    if (id == "busy") return std::shared_ptr<void>();
    if (id == "anew") {
      json::Object& record = node_.records.records.at(id);
      record.find("attachments")
          ->as_array()
          ->front()
          .as_object()
          ->set("addedAt", "9999-01-01T00:00:00Z");
    }
    return std::shared_ptr<void>(std::make_shared<int>());
  };
  TextAttachments collector(node_.ports(), log_, options);

  ASSERT_TRUE(aio::run(loop_, collector.gc(collecting("[]", delegates({"a"})))));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a eth0"));
  EXPECT_THAT(turns, ElementsAre("anew", "busy", "gone", "all"));
  EXPECT_TRUE(node_.records.records.contains("anew"));
  EXPECT_FALSE(node_.records.records.contains("gone"));
}

// A tenant's pods may have tens of thousands of results: reading all of them for each network would
// take hours.
TEST_F(GcTest, ReadsTheCacheAgainOnlyWhenSomethingMayHaveChangedIt) {
  const std::string conf = R"("delegates":[{"cniVersion":"1.1.0","name":"a","type":"x"},)"
                           R"({"cniVersion":"1.1.0","name":"b","type":"x"},)"
                           R"({"cniVersion":"1.1.0","name":"c","type":"x"}])";
  attach("c1", conf);
  node_.records.listings = 0;

  ASSERT_TRUE(gc(collecting(valid({"c1"}), delegates({"other"}))));

  EXPECT_THAT(node_.runs(), ElementsAre("GC a", "GC b", "GC c"));
  // Which containers are stale, what is left of them, and what is valid.
  EXPECT_EQ(node_.records.listings, 3);
}

TEST_F(GcTest, RunsNoPluginThatWouldHaveToBeToldOfTooMany) {
  attach("c1", delegates({"a"}, "1.1.0"));
  const cni::CacheEntry entry = node_.records.results.at("a-c1-eth0");
  for (int i = 0; i < 10'000; ++i) {
    cni::CacheEntry another = entry;
    another.ifname = cat("x", i);
    node_.records.results[cat("a-c1-", another.ifname)] = another;
  }

  auto collected = gc(collecting(valid({"c1"}), delegates({"a"}, "1.1.0")));

  EXPECT_THAT(collected.error().text(), HasSubstr("more than 10000 attachments"));
  EXPECT_THAT(node_.runs(), IsEmpty());
}

TEST_F(GcTest, RunsForDefaultNetworksToo) {
  node_.networks.configs["/n/c.conf"] = R"({"cniVersion":"1.1.0","name":"c","type":"x"})";
  node_.networks.configs["/n/d.conf"] = R"({"cniVersion":"1.1.0","name":"d","type":"x"})";

  ASSERT_TRUE(
      gc(collecting("[]", R"("clusterNetwork":"/n/c.conf","defaultNetworks":["/n/d.conf"])")));
  EXPECT_THAT(node_.runs(), ElementsAre("GC c", "GC d"));
}

TEST_F(GcTest, HonoursDisableGc) {
  ASSERT_TRUE(gc(collecting(
      "[]",
      R"("delegates":[{"cniVersion":"1.1.0","name":"l","disableGC":true,"plugins":[{"type":"x"}]}])")));
  EXPECT_THAT(node_.runs(), IsEmpty());
}

TEST_F(GcTest, GoesOnAfterErrorsAndTellsThemAll) {
  attach("c2", delegates({"a"}, "1.1.0"));
  attach("c3", delegates({"a"}, "1.1.0"));
  node_.plugins.errors.emplace("DEL a", cni::coded(cni::Code::kIo, "stuck"));
  node_.plugins.errors.emplace("GC a", Error(Errc::kPlugin, "no"));

  auto collected = gc(collecting("[]", delegates({"a"}, "1.1.0")));

  ASSERT_FALSE(collected);
  EXPECT_THAT(collected.error().text(), HasSubstr("stale container c2: errors: error invoking"));
  EXPECT_THAT(collected.error().text(), HasSubstr("\nstale container c3: errors:"));
  EXPECT_THAT(collected.error().text(), HasSubstr("\nfailed to GC plugin fake: no"));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL a eth0", "DEL a eth0", "GC a"));
  // What could not be deleted is not a valid attachment for that.
  EXPECT_EQ(*node_.plugins.config(2).find("cni.dev/valid-attachments"), json::Value(json::Array()));
  EXPECT_THAT(node_.records.scratch, SizeIs(2));
  EXPECT_THAT(node_.records.results, SizeIs(2));
}

// Authors of pods and of networks choose how many fail, and plugins what they say.
TEST_F(GcTest, CountsTheFailuresThatItDoesNotTell) {
  std::vector<std::string> names;
  for (int i = 0; i < 30; ++i) {
    names.push_back(cat("n", i));
    node_.plugins.errors.emplace(cat("GC n", i), Error(Errc::kPlugin, std::string(10'000, 'x')));
  }

  auto collected = gc(collecting("[]", delegates(names, "1.1.0")));

  ASSERT_FALSE(collected);
  EXPECT_LT(collected.error().text().size(), 70'000u);
  EXPECT_THAT(collected.error().text(), HasSubstr("\n24 more things have failed"));
  EXPECT_THAT(node_.runs(), SizeIs(30));
}

TEST_F(GcTest, SweepsDamagedEntriesOfNobody) {
  attach("c1", delegates({"a"}));
  node_.records.damaged_results = {"x-c1-eth0", "x-gone-eth0"};

  ASSERT_TRUE(gc(collecting(valid({"c1"}), delegates({"a"}))));

  EXPECT_THAT(node_.records.damaged_results, ElementsAre("x-c1-eth0"));
  EXPECT_TRUE(logged("x-gone-eth0"));
}

TEST_F(GcTest, RunsNoPluginIfItDoesNotKnowAllThatIsValid) {
  node_.records.list_error = Error(Errc::kIo, "cannot read");

  auto collected = gc(collecting("[]", delegates({"a"}, "1.1.0")));

  EXPECT_THAT(collected.error().text(), HasSubstr("cannot read"));
  EXPECT_THAT(node_.runs(), IsEmpty());
}

// A plugin frees what it is not told of, and a living container may own it.
TEST_F(GcTest, RunsNoPluginWhileARecordOfALivingContainerCannotBeRead) {
  attach("c1", delegates({"a"}, "1.1.0"));
  const auto collect = [this] { return gc(collecting(valid({"c1"}), delegates({"a"}, "1.1.0"))); };

  node_.records.find_record_error = Error::from_errno(EIO, "read c1.json");
  EXPECT_THAT(collect().error(), HasCode(11));
  node_.records.find_record_error.reset();
  node_.records.result_errors.emplace("a-c1-eth0", Error::from_errno(EACCES, "open a-c1-eth0"));
  EXPECT_THAT(collect().error().text(), HasSubstr("open a-c1-eth0"));
  node_.records.result_errors.clear();

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_TRUE(collect());
  EXPECT_THAT(node_.runs(), ElementsAre("GC a"));
}

TEST_F(GcTest, KeepsTheFilesOfAStaleContainerThatCannotBeRead) {
  attach("c2", delegates({"a"}));
  node_.records.scratch_error = Error::from_errno(EIO, "read c2");

  auto collected = gc(collecting("[]", delegates({"a"})));

  EXPECT_THAT(collected.error().text(), HasSubstr("stale container c2"));
  EXPECT_TRUE(node_.records.scratch.contains("c2"));
}

TEST_F(GcTest, GoesOnWithTheOtherNetworksWithoutAMaster) {
  attach("c1", delegates({"a"}, "1.1.0"));

  auto collected = gc(collecting(valid({"c1"}), R"("clusterNetwork":"/not/there")"));

  EXPECT_THAT(collected.error().text(), HasSubstr("failed to get clusterNetwork"));
  EXPECT_THAT(node_.runs(), ElementsAre("GC a"));
}

// 02, 12: row 143
TEST_F(GcTest, LeavesAContainerAloneWhileItsAddRuns) {
  auto hold = node_.plugins.hold("ADD b");
  aio::Group group(loop_.get_executor(), log_);
  RequestText what = request(delegates({"a", "b"}, "1.1.0"));
  what.container_id = "new";
  group.spawn("add", adding(what));
  ASSERT_TRUE(aio::run(loop_, hold->reached.wait()));
  forget();

  ASSERT_TRUE(gc(collecting("[]", delegates({"a"}, "1.1.0"))));

  EXPECT_THAT(node_.runs(), ElementsAre("GC a"));
  EXPECT_EQ(*node_.plugins.config(0).find("cni.dev/valid-attachments"),
            json::parse(
                R"([{"containerID":"new","ifname":"eth0"},{"containerID":"new","ifname":"net1"}])")
                .value());
  hold->release.set();
  EXPECT_TRUE(aio::run(loop_, group.join()));
  EXPECT_TRUE(node_.records.scratch.contains("new"));
}

// An ADD that ends while GC runs is not in the runtime's list either.
TEST_F(GcTest, LeavesAContainerAloneWhoseAddEndsMeanwhile) {
  attach("old", delegates({"z"}));
  auto added = node_.plugins.hold("ADD b");
  auto deleting = node_.plugins.hold("DEL z");
  aio::Group group(loop_.get_executor(), log_);
  RequestText what = request(delegates({"b"}));
  what.container_id = "zz-new";
  group.spawn("add", adding(what));
  ASSERT_TRUE(aio::run(loop_, added->reached.wait()));
  group.spawn("gc", attachments_.gc(collecting("[]", delegates({"b"}))));
  ASSERT_TRUE(aio::run(loop_, deleting->reached.wait()));

  added->release.set();
  loop_.poll();
  deleting->release.set();
  ASSERT_TRUE(aio::run(loop_, group.join()));

  EXPECT_FALSE(node_.records.scratch.contains("old"));
  EXPECT_TRUE(node_.records.scratch.contains("zz-new"));
  EXPECT_TRUE(node_.records.results.contains("b-zz-new-eth0"));
}

}  // namespace
}  // namespace mnet::attach
