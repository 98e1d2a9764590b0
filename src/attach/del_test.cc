#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "attach/attach.h"
#include "attach/node_fixture.h"
#include "attach/pod_fixture.h"
#include "attach/request.h"
#include "attach/request_text.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cni/args.h"
#include "cni/cache.h"
#include "cni/error.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/scratch.h"

namespace mnet::attach {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class DelTest : public NodeTest {
 protected:
  void add_and_forget(const std::string& members) {
    auto added = add(request(members));
    ASSERT_TRUE(added) << added.error().text();
    forget();
  }
  // What an earlier version, or the original, attached.
  void remember(const std::vector<std::string>& configs) {
    std::vector<model::Delegate> delegates;
    for (const std::string& config : configs)
      delegates.push_back(model::parse_delegate(config).value());
    node_.records.scratch["c1"] = model::encode_scratch(delegates);
  }
  const json::Object& element(std::size_t index) {
    return *node_.records.scratch.at("c1")[index].as_object();
  }
};

TEST_F(DelTest, TakesDownWhatAddMadeInReverse) {
  add_and_forget(delegates({"a", "b", "c"}));

  ASSERT_TRUE(del(request(delegates({"a", "b", "c"}))));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL c net2", "DEL b net1", "DEL a eth0"));
  EXPECT_EQ(node_.calls.back(), "remove scratch c1");
  EXPECT_THAT(node_.records.results, IsEmpty());
  EXPECT_THAT(node_.records.scratch, IsEmpty());
}

// 02, 6.2: the record counts, not what the configuration says now
TEST_F(DelTest, RunsWhatAddRanWhateverBecameOfTheConfiguration) {
  add_and_forget(delegates({"a", "b"}));

  ASSERT_TRUE(del(request(delegates({"other"}))));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1", "DEL a eth0"));
}

// pain 5
TEST_F(DelTest, GivesThePluginTheConfigurationOfAddByteForByte) {
  const std::string conf =
      R"({"cniVersion":"0.3.1","name":"a","type":"fake","big":9223372036854775807,"x":1.50})";
  add_and_forget(R"("delegates":[)" + conf + "]");
  EXPECT_EQ(node_.records.results.at("a-c1-eth0").config, conf);

  ASSERT_TRUE(del(request(delegates({"other"}))));

  EXPECT_THAT(node_.plugins.runs[0].config, HasSubstr(R"("big":9223372036854775807)"));
  EXPECT_THAT(node_.plugins.runs[0].config, HasSubstr(R"("x":1.50)"));
}

// 02, 12: row 127
TEST_F(DelTest, SucceedsTwiceAndWithoutANamespace) {
  add_and_forget(delegates({"a"}));
  RequestText what = request(delegates({"a"}));
  what.netns = "";

  EXPECT_TRUE(del(what));
  EXPECT_TRUE(del(what));
  EXPECT_EQ(node_.plugins.runs[0].netns, "");
}

// 02, 12: row 14
TEST_F(DelTest, IsNotStoppedByAConfigurationThatAddWouldRefuse) {
  add_and_forget(delegates({"a"}));
  RequestText what = request(R"("prevResult":"garbage","delegates":[{"_not_type":1}])");
  what.args = "no pair;K8S_POD_NAME=p1";

  EXPECT_TRUE(del(what));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL a eth0"));
}

// 02, 3.3: a record must not start Multus, and a container must be able to go away.
TEST_F(DelTest, LeavesOutPluginsThatAreMultusItselfAndDeletesTheRest) {
  for (const char* retry : {"false", "true"}) {
    remember({R"({"cniVersion":"1.0.0","name":"a","type":"fake"})",
              R"({"cniVersion":"1.0.0","name":"b","type":"multus","delegates":[{"type":"evil"}]})",
              R"({"cniVersion":"1.0.0","name":"c","plugins":[{"type":"fake"},{"type":"x",)"
              R"("delegate":{"type":"multus-shim"}},{"type":"fake"}]})"});

    const auto deleted =
        del(request(cat(R"("retryDeleteOnError":)", retry, ",", delegates({"a"}))));

    EXPECT_TRUE(deleted) << deleted.error().text();
    EXPECT_THAT(node_.runs(), ElementsAre("DEL c net2", "DEL c net2", "DEL a eth0"));
    EXPECT_THAT(node_.records.scratch, IsEmpty());
    EXPECT_TRUE(logged(R"(DEL of network "b", interface net1 of container c1 skips a plugin: )"
                       R"(type "multus" is multus itself)"));
    EXPECT_TRUE(logged(R"(delegate.type "multus-shim" is multus itself)"));
    forget();
  }
}

TEST_F(DelTest, LeavesOutMultusItselfInWhatOnlyTheResultCacheKnows) {
  add_and_forget(delegates({"a", "b"}));
  node_.records.scratch.clear();
  node_.records.records.clear();
  node_.records.results.at("b-c1-net1").config =
      R"({"cniVersion":"1.0.0","name":"b","type":"x","ipam":{"type":"../evil"}})";

  EXPECT_TRUE(del(request(delegates({"a"}))));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL a eth0"));
  EXPECT_THAT(node_.records.results, IsEmpty());
}

// A pending DEL that the shim wrote when a tenant's text started it (03, 2.14).
TEST_F(DelTest, LeavesOutMultusItselfForAContainerThatNobodyKnows) {
  RequestText what = request(delegates({"a"}));
  what.config = R"({"cniVersion":"1.0.0","name":"n","type":"our-shim","delegates":[)"
                R"({"cniVersion":"1.0.0","name":"a","type":"fake"},)"
                R"({"cniVersion":"1.0.0","name":"b","type":"our-shim"}]})";

  EXPECT_TRUE(complete(try_del(what)));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL a eth0"));
}

TEST_F(DelTest, GoesOnWithoutTheReadinessIndicator) {
  add_and_forget(delegates({"a"}));

  EXPECT_TRUE(del(request(R"("readinessindicatorfile":"/ready",)" + delegates({"a"}))));
  EXPECT_TRUE(logged("/ready"));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL a eth0"));
}

// 02, 12: row 123
TEST_F(DelTest, FallsBackToTheResultCacheWhenTheScratchFileIsDamaged) {
  for (const std::string damage : {"file", "[]", "[null]", R"([{"Bytes":"e30="}])", "missing"}) {
    add_and_forget(delegates({"a", "c", "b"}));
    if (damage == "file") node_.records.damaged.insert("c1");
    if (damage[0] == '[') {
      node_.records.scratch["c1"] = *json::parse(damage).value().as_array();
    } else {
      node_.records.scratch.erase("c1");
    }

    EXPECT_TRUE(del(request(delegates({"other"})))) << damage;

    // Secondaries in reverse order of their file names, then the master.
    EXPECT_THAT(node_.runs(), ElementsAre("DEL c net1", "DEL b net2", "DEL a eth0")) << damage;
    EXPECT_THAT(node_.records.results, IsEmpty()) << damage;
    EXPECT_THAT(node_.records.scratch, IsEmpty()) << damage;
    EXPECT_THAT(node_.records.damaged, IsEmpty()) << damage;
    forget();
  }
}

TEST_F(DelTest, UsesTheCachesArgumentsWhenOnlyTheCacheIsLeft) {
  add_and_forget(
      R"("runtimeConfig":{"mac":"aa:bb:cc:dd:ee:ff"},)"
      R"("delegates":[{"cniVersion":"1.0.0","name":"a","type":"fake","capabilities":{"mac":true}}])");
  node_.records.scratch.clear();
  RequestText what = request(delegates({"a"}));
  what.args = "";

  ASSERT_TRUE(del(what));

  EXPECT_THAT(cni::args_text(node_.plugins.runs[0].args), HasSubstr("K8S_POD_NAME=p1"));
  EXPECT_THAT(node_.plugins.runs[0].config, HasSubstr(R"("mac":"aa:bb:cc:dd:ee:ff")"));
}

// 02, 4.3: DEL offers the same as ADD did, even if the runtime does not say it again
TEST_F(DelTest, OffersWhatAddOffered) {
  const std::string conf =
      R"("delegates":[{"cniVersion":"1.0.0","name":"a","type":"fake","capabilities":{"mac":true}}])";
  add_and_forget(R"("runtimeConfig":{"mac":"aa:bb:cc:dd:ee:ff"},)" + conf);

  ASSERT_TRUE(del(request(conf)));

  EXPECT_THAT(node_.plugins.runs[0].config, HasSubstr(R"("mac":"aa:bb:cc:dd:ee:ff")"));
}

// 02, 12: row 124
TEST_F(DelTest, DoesWhatItCanForAContainerThatNobodyKnows) {
  node_.plugins.errors.emplace("DEL b", Error(Errc::kPlugin, "never heard"));

  EXPECT_TRUE(del(request(R"("retryDeleteOnError":true,)" + delegates({"a", "b"}))));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1", "DEL a eth0"));
  EXPECT_TRUE(logged("never heard"));

  EXPECT_TRUE(del(request(R"("clusterNetwork":"/not/there")")));
  EXPECT_TRUE(logged("cannot find network /not/there"));
}

TEST_F(DelTest, WorksFromTheRecordsWhereTheConfigurationCannotBeRead) {
  for (const char* wrong : {R"("parallelAttach":"maybe")", R"("capabilities":"all")",
                            R"("cniVersion":7)", R"("delegates":5)"}) {
    add_and_forget(delegates({"a", "b"}));

    const auto deleted = del(request(cat(wrong, ",", R"("clusterNetwork":"/else")")));

    EXPECT_TRUE(deleted) << deleted.error().text();
    EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1", "DEL a eth0")) << wrong;
    EXPECT_THAT(node_.records.scratch, IsEmpty());
    EXPECT_TRUE(logged("DEL continues with what is on record: error loading netconf"));
    forget();
  }
  add_and_forget(delegates({"a"}));
  RequestText what = request("");
  what.config = "not JSON";

  EXPECT_TRUE(del(what));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL a eth0"));
}

// Success would tell the runtime to forget a container of which nothing is known.
TEST_F(DelTest, AsksForARetryWhereNeitherRecordNorConfigurationCanBeRead) {
  for (const char* wrong : {R"("parallelAttach":"maybe",)", R"("capabilities":"all",)"}) {
    const auto outcome = try_del(request(wrong + delegates({"a"})));

    ASSERT_TRUE(outcome);
    EXPECT_TRUE(outcome->is_unknown);
    EXPECT_THAT(told(outcome).error(), HasCode(cni::Code::kTryAgainLater)) << wrong;
    EXPECT_THAT(node_.runs(), IsEmpty());
  }
}

class UnrecordedDelTest : public PodTest {
 protected:
  // A cluster network and two of the pod's three.
  void SetUp() override {
    node_.source.add_network("kube-system", "main",
                             R"({"cniVersion":"1.0.0","name":"main","type":"bridge"})");
    add_pod("x,lost,y");
    define("x");
    define("y");
  }
};

TEST_F(UnrecordedDelTest, DeletesEachNetworkThatCanBeHadUnderItsName) {
  EXPECT_TRUE(del(request(R"("clusterNetwork":"main")")));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL y net3", "DEL x net1", "DEL main eth0"));
  EXPECT_TRUE(logged("cannot find a network-attachment-definition (lost) in namespace (ns1)"));
  EXPECT_THAT(node_.source.events, IsEmpty());
}

TEST_F(UnrecordedDelTest, DeletesThePodsNetworksWithoutTheClusterNetwork) {
  EXPECT_TRUE(del(request(R"("clusterNetwork":"gone")")));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL y net3", "DEL x net1"));
}

TEST_F(UnrecordedDelTest, DeletesTheConfiguredNetworksOfAPodWhoseAnnotationIsWrong) {
  add_pod("[{");

  EXPECT_TRUE(del(request(R"("clusterNetwork":"main")")));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL main eth0"));
  EXPECT_THAT(node_.source.events, IsEmpty());
}

TEST_F(UnrecordedDelTest, DeletesTheClusterNetworkWhereTheOneInItsPlaceIsLost) {
  node_.source.add_pod(
      "ns1", "p1",
      {{"v1.multus-cni.io/default-network", "ns1/lost"}, {"k8s.v1.cni.cncf.io/networks", "x"}});

  EXPECT_TRUE(del(request(R"("clusterNetwork":"main")")));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL x net1", "DEL main eth0"));

  forget();
  define("lost");
  EXPECT_TRUE(del(request(R"("clusterNetwork":"main")")));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL x net1", "DEL lost eth0"));
}

// 02, 12: row 125
TEST_F(DelTest, RunsAllWhateverFails) {
  add_and_forget(delegates({"a", "b", "c"}));
  node_.plugins.errors.emplace("DEL a", Error(Errc::kPlugin, "one"));
  node_.plugins.errors.emplace("DEL c", Error(Errc::kPlugin, "three"));

  const auto outcome = try_del(request(delegates({"a", "b", "c"})));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL c net2", "DEL b net1", "DEL a eth0"));
  ASSERT_TRUE(outcome.has_value());
  EXPECT_FALSE(outcome->keeps_failed);
  EXPECT_THAT(outcome->failed.value().text(),
              HasSubstr("errors: error invoking DelegateDel - \"fake\": three / error invoking "
                        "DelegateDel - \"fake\": one"));
  node_.plugins.errors.clear();
  forget();
  EXPECT_TRUE(del(request(delegates({"a", "b", "c"}))));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL c net2", "DEL a eth0"));
  EXPECT_THAT(node_.records.scratch, IsEmpty());
  EXPECT_THAT(node_.records.results, IsEmpty());
}

// pains 4 and 7
TEST_F(DelTest, TellsWhetherWhatIsLeftWasEverAttached) {
  const Error no(Errc::kPlugin, "no");
  for (const bool fails : {true, false}) {
    RequestText what = request(delegates({"a", "b"}));
    what.pending_body = "as posted";
    if (fails) node_.plugins.errors.emplace("ADD b", no);
    node_.plugins.errors.emplace("DEL b", no);
    EXPECT_NE(add(what).has_value(), fails);

    const auto outcome = try_del(what);

    ASSERT_TRUE(outcome);
    EXPECT_TRUE(outcome->failed);
    EXPECT_EQ(outcome->is_of_failed_add, fails);
    node_.plugins.errors.clear();
    ASSERT_TRUE(del(what));
  }
}

// Else they would be found again at every start.
TEST_F(DelTest, TheLastTryOfADelLeavesNoRecords) {
  add_and_forget(delegates({"a", "b"}));
  node_.plugins.errors.emplace("DEL b", Error(Errc::kPlugin, "no"));
  auto last = read_text(Verb::kDel, request(delegates({"a", "b"})), log_);
  last->is_last = true;

  const auto outcome = aio::run(loop_, attachments_.typed().del(*std::move(last)));

  ASSERT_TRUE(outcome && outcome->failed);
  EXPECT_THAT(node_.records.scratch, IsEmpty());
  EXPECT_THAT(node_.records.records, IsEmpty());
}

TEST_F(DelTest, ADelegateThatFailsLeavesItsRecordsAndAPendingDel) {
  add_and_forget(delegates({"a", "b"}));
  node_.plugins.errors.emplace("DEL b", Error(Errc::kPlugin, "no"));
  RequestText what = request(delegates({"a", "b"}));
  what.pending_body = "as posted";

  const auto first = try_del(what);
  const auto second = try_del(what);

  ASSERT_TRUE(first.has_value());
  EXPECT_TRUE(first->failed.has_value());
  EXPECT_TRUE(first->is_pending);
  EXPECT_TRUE(second->is_pending);
  EXPECT_THAT(node_.pending.bodies, ElementsAre(std::pair("c1-eth0", "as posted")));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1", "DEL a eth0", "DEL b net1"));
  const auto record = model::decode_record(node_.records.records.at("c1"));
  EXPECT_EQ(record->state, model::RecordState::kDeleting);
  EXPECT_TRUE(record->is_pending);
  EXPECT_EQ(record->find("eth0"), nullptr);
  EXPECT_NE(record->find("net1"), nullptr);
}

using PodDelTest = PodTest;

TEST_F(PodDelTest, ThePodsOwnerHearsOnceOfADelegateThatFails) {
  add_pod("");
  ASSERT_TRUE(add(request(delegates({"a"}))));
  node_.plugins.errors.emplace("DEL a", Error(Errc::kPlugin, "no"));
  node_.source.events.clear();
  RequestText what = request(delegates({"a"}));
  what.pending_body = "as posted";

  EXPECT_TRUE(del(what));
  EXPECT_TRUE(del(what));

  ASSERT_THAT(node_.source.events, SizeIs(1));
  EXPECT_THAT(node_.source.events[0],
              HasSubstr("Warning NetworksNotRemoved: networks of the pod could not be removed"));
}

// Thousands may fail again and again, and each would wait for the disk.
TEST_F(DelTest, WritesItsRecordOnceHoweverOftenItFails) {
  ASSERT_TRUE(add(request(delegates({"a"}))));
  node_.plugins.errors.emplace("DEL a", Error(Errc::kPlugin, "no"));
  RequestText what = request(delegates({"a"}));
  what.pending_body = "as asked";
  ASSERT_TRUE(del(what));
  EXPECT_THAT(node_.calls, testing::Contains("write record c1"));
  forget();

  ASSERT_TRUE(del(what));

  EXPECT_THAT(node_.calls, testing::Not(testing::Contains("write record c1")));
  EXPECT_TRUE(node_.records.records.contains("c1"));
}

TEST_F(DelTest, IsTheCallersToRepeatIfItCannotBeRecorded) {
  add_and_forget(delegates({"a"}));
  node_.plugins.errors.emplace("DEL a", Error(Errc::kPlugin, "no"));
  node_.pending.error = Error(Errc::kIo, "disk full");
  RequestText what = request(delegates({"a"}));
  what.pending_body = "as posted";

  EXPECT_FALSE(try_del(what)->is_pending);
  EXPECT_THAT(node_.records.scratch, SizeIs(1));
  EXPECT_FALSE(model::decode_record(node_.records.records.at("c1"))->is_pending);
}

// 02, 12: row 126; pain 7
TEST_F(DelTest, AsksForARetryAndThenRunsOnlyWhatIsLeft) {
  const std::string conf = R"("retryDeleteOnError":true,)" + delegates({"a", "b", "c"});
  add_and_forget(conf);
  node_.plugins.errors.emplace("DEL b", cni::coded(cni::Code::kIo, "no such file or directory"));

  auto first = del(request(conf));

  ASSERT_FALSE(first);
  EXPECT_THAT(first.error(), HasCode(11));
  EXPECT_EQ(first.error().text(),
            "Multus: [ns1/p1/u1]: errors: error invoking DelegateDel - \"fake\": no such file or "
            "directory");
  ASSERT_TRUE(node_.records.scratch.contains("c1"));
  EXPECT_EQ(node_.records.scratch.at("c1").size(), 3u);
  EXPECT_THAT(node_.records.unsynced, IsEmpty());

  forget();
  EXPECT_FALSE(del(request(conf)));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1"));

  node_.plugins.errors.clear();
  forget();
  EXPECT_TRUE(del(request(conf)));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1"));
  EXPECT_THAT(node_.records.scratch, IsEmpty());
  EXPECT_THAT(node_.records.results, IsEmpty());
}

TEST_F(DelTest, TellsWhoReplaysAPendingDelWhatIsLeft) {
  add_and_forget(delegates({"a", "b"}));
  node_.plugins.errors.emplace("DEL b", Error(Errc::kPlugin, "stuck"));
  const RequestText what = request(delegates({"a", "b"}));

  EXPECT_THAT(complete(try_del(what)).error(), HasCode(11));
  EXPECT_THAT(complete(try_del(what)).error(), HasCode(11));
  node_.plugins.errors.clear();
  EXPECT_TRUE(complete(try_del(what)));
}

// An error is not an absence: out of descriptors, nothing is known of the container.
TEST_F(DelTest, ChangesNothingWhereTheMachineLacksTheMeansToRead) {
  for (const int shortage : {EMFILE, ENFILE, ENOMEM}) {
    add_and_forget(delegates({"a", "b"}));
    node_.records.read_error = Error::from_errno(shortage, "open c1");

    EXPECT_THAT(del(request(delegates({"a", "b"}))).error(), HasCode(11));

    EXPECT_THAT(node_.runs(), IsEmpty());
    EXPECT_TRUE(node_.records.scratch.contains("c1"));
    EXPECT_EQ(node_.records.results.size(), 2u);
    node_.records.read_error.reset();
    forget();
    EXPECT_TRUE(del(request(delegates({"a", "b"}))));
    EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1", "DEL a eth0"));
    EXPECT_THAT(node_.records.scratch, IsEmpty());
  }
}

TEST_F(DelTest, KeepsTheRecordOfADelegateThatCouldNotBeStarted) {
  add_and_forget(delegates({"a", "b"}));
  node_.plugins.errors.emplace("DEL b", Error::from_errno(EMFILE, "pipe"));

  EXPECT_THAT(del(request(delegates({"a", "b"}))).error(), HasCode(11));

  EXPECT_TRUE(node_.records.scratch.contains("c1"));
  node_.plugins.errors.clear();
  forget();
  EXPECT_TRUE(del(request(delegates({"a", "b"}))));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1"));
}

TEST_F(DelTest, TakesTheOtherSourcesWhereOneCannotBeReadAndKeepsAllFiles) {
  add_and_forget(delegates({"a", "b"}));
  node_.records.scratch_error = Error::from_errno(EIO, "read c1");
  const RequestText what = request(delegates({"a", "b"}));

  const auto outcome = try_del(what);

  ASSERT_TRUE(outcome.has_value());
  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1", "DEL a eth0"));
  ASSERT_TRUE(outcome->unreadable.has_value());
  EXPECT_THAT(*outcome->unreadable, HasCode(11));
  EXPECT_THAT(outcome->unreadable->text(), HasSubstr("read c1"));
  EXPECT_TRUE(node_.records.scratch.contains("c1"));
  node_.records.scratch_error.reset();
  EXPECT_TRUE(complete(try_del(what)));
  EXPECT_THAT(node_.records.scratch, IsEmpty());
  EXPECT_THAT(node_.records.records, IsEmpty());
}

// Where `cniDir` is the runtime's own cache (libcni's), the entry is that of this very DEL.
TEST_F(DelTest, LeavesTheRuntimesOwnEntryAlone) {
  for (const bool has_scratch : {true, false}) {
    add_and_forget(delegates({"a"}));
    cni::CacheEntry entry = node_.records.results.at("a-c1-eth0");
    entry.network = "multus";
    entry.config = R"({"cniVersion":"1.0.0","name":"multus","plugins":[{"type":"multus-shim"}]})";
    node_.records.results.insert_or_assign("multus-c1-eth0", entry);
    if (!has_scratch) node_.records.scratch.clear();

    EXPECT_TRUE(del(request(delegates({"a"}))));

    EXPECT_THAT(node_.runs(), ElementsAre("DEL a eth0"));
    EXPECT_TRUE(node_.records.results.contains("multus-c1-eth0"));
    EXPECT_FALSE(logged("is multus itself"));
    forget();
  }
}

TEST_F(DelTest, KeepsAResultThatCannotBeRead) {
  add_and_forget(delegates({"a", "b"}));
  node_.records.result_errors.emplace("b-c1-net1", Error::from_errno(EACCES, "open b-c1-net1"));

  const auto outcome = try_del(request(delegates({"a", "b"})));

  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(outcome->unreadable.has_value());
  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1", "DEL a eth0"));
  EXPECT_TRUE(node_.records.results.contains("b-c1-net1"));
  EXPECT_TRUE(node_.records.scratch.contains("c1"));
}

// Its plugin may need the result, and gets it as soon as it can be read.
TEST_F(DelTest, IsRepeatedWithTheResultThatCouldNotBeRead) {
  add_and_forget(delegates({"a", "b"}));
  node_.records.result_errors.emplace("b-c1-net1", Error::from_errno(EIO, "read b-c1-net1"));
  ASSERT_TRUE(try_del(request(delegates({"a", "b"})))->unreadable.has_value());
  node_.records.result_errors.clear();
  forget();

  EXPECT_TRUE(complete(try_del(request(delegates({"a", "b"})))));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1"));
  EXPECT_NE(node_.plugins.config(0).find("prevResult"), nullptr);
  EXPECT_THAT(node_.records.results, IsEmpty());
  EXPECT_THAT(node_.records.scratch, IsEmpty());
}

TEST_F(DelTest, RunsAPluginOfAnEarlierVersionThatNamesAPathSomewhere) {
  add_and_forget(delegates({"a", "b"}));
  node_.records.scratch.clear();
  node_.records.records.clear();
  node_.records.results.at("b-c1-net1").config =
      R"({"cniVersion":"1.0.0","name":"b","type":"x","driver":{"type":"net/virtio"}})";

  EXPECT_TRUE(del(request(delegates({"a"}))));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL b net1", "DEL a eth0"));
}

TEST_F(DelTest, TouchesNothingItCannotReadWhereNoOtherSourceIsLeft) {
  add_and_forget(delegates({"a", "b"}));
  node_.records.read_error = Error::from_errno(EIO, "read");

  const auto outcome = try_del(request(delegates({"a", "b"})));

  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(outcome->unreadable.has_value());
  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_TRUE(node_.records.scratch.contains("c1"));
}

// 02, 12: row 129
TEST_F(DelTest, FillsTheVersionOfAListWithoutOne) {
  add_and_forget(R"("delegates":[{"name":"l","x":1,"plugins":[{"type":"p","y":2}]}])");

  ASSERT_TRUE(del(request(delegates({"a"}))));

  EXPECT_EQ(*node_.plugins.config(0).find("cniVersion"), json::Value("1.0.0"));
  EXPECT_EQ(*node_.plugins.config(0).find("y"), json::Value(2));
}

TEST_F(DelTest, LeavesTheVersionOfAConfAlone) {
  add_and_forget(R"("delegates":[{"name":"c","type":"p"}])");

  ASSERT_TRUE(del(request(delegates({"a"}))));

  EXPECT_EQ(*node_.plugins.config(0).find("cniVersion"), json::Value(""));
}

// 02, 12: row 134
TEST_F(DelTest, TakesDownWhatOnlyTheResultCacheKnows) {
  add_and_forget(delegates({"a"}));
  cni::CacheEntry dynamic;
  dynamic.container_id = "c1";
  dynamic.network = "hot";
  dynamic.ifname = "net7";
  dynamic.config = R"({"cniVersion":"1.0.0","name":"hot","type":"fake"})";
  node_.records.results["hot-c1-net7"] = dynamic;
  node_.plugins.errors.emplace("DEL hot", Error(Errc::kPlugin, "stuck"));

  RequestText what = request(R"("retryDeleteOnError":true,)" + delegates({"a"}));
  what.pending_body = "as posted";

  const auto outcome = try_del(what);

  EXPECT_TRUE(told(outcome));
  EXPECT_TRUE(outcome->is_pending);
  EXPECT_THAT(node_.runs(), ElementsAre("DEL a eth0", "DEL hot net7"));
  EXPECT_TRUE(logged("stuck"));
  node_.plugins.errors.clear();
  forget();
  EXPECT_TRUE(attach::complete(try_del(what)));
  EXPECT_THAT(node_.runs(), ElementsAre("DEL hot net7"));
  EXPECT_THAT(node_.records.scratch, IsEmpty());
}

TEST_F(DelTest, PassesNoAddressWishesOn) {
  add_and_forget(delegates({"a"}));
  node_.records.scratch["c1"] =
      *json::parse(
           R"([{"Name":"x/a","macRequest":"aa:bb:cc:dd:ee:ff","ipRequest":["10.0.0.9"],"Bytes":")" +
           to_base64(
               R"({"cniVersion":"1.0.0","name":"a","type":"fake","capabilities":{"mac":true}})") +
           R"("}])")
           .value()
           .as_array();

  ASSERT_TRUE(del(request(R"("runtimeConfig":{},)" + delegates({"a"}))));

  EXPECT_EQ(cni::find_arg(node_.plugins.runs[0].args, "MAC"), nullptr);
  EXPECT_EQ(cni::find_arg(node_.plugins.runs[0].args, "IP"), nullptr);
  EXPECT_THAT(node_.plugins.runs[0].config, HasSubstr(R"("runtimeConfig":{"mac":"aa:bb)"));
}

// 02, 9
TEST_F(DelTest, WritesTheLineThatToolsSearchForWithoutTheConfiguration) {
  add_and_forget(delegates({"a"}));
  ASSERT_TRUE(del(request(delegates({"a"}))));
  EXPECT_TRUE(logged("[verbose] Del: ns1:p1:unknownUID:a:eth0\n"));
}

// 03, 2.13
TEST_F(DelTest, LogsTheConfigurationAtDebugOnly) {
  add_and_forget(delegates({"a"}));
  TextAttachments debugged(node_.ports(), log_.with_level(LogLevel::kDebug), {});
  ASSERT_TRUE(told(aio::run(loop_, debugged.del(request(delegates({"a"}))))));
  EXPECT_TRUE(logged(R"([verbose] Del: ns1:p1:unknownUID:a:eth0 {"cniVersion":"1.0.0",)"));
}

TEST_F(DelTest, KeepsTheScratchFileIfOnlyItsRemovalFails) {
  add_and_forget(delegates({"a"}));
  node_.records.errors.emplace("remove scratch c1", Error(Errc::kIo, "read-only"));

  EXPECT_TRUE(del(request(delegates({"a"}))));
  EXPECT_TRUE(logged("read-only"));
}

}  // namespace
}  // namespace mnet::attach
