#include "upkeep/rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "aio/task.h"
#include "attach/attach.h"
#include "attach/core.h"
#include "attach/node_fixture.h"
#include "attach/request.h"
#include "attach/request_text.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "json/json.h"
#include "model/attachment_record.h"

namespace mnet::upkeep {
namespace {

using attach::RequestText;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

aio::Task<std::set<std::uint64_t>> said(Result<std::set<std::uint64_t>> inodes) {
  co_return inodes;
}

// Containers in namespaces of their own, whose DELs the rule judges. Every fake plugin gives the
// same address.
class RuleTest : public attach::NodeTest {
 protected:
  RuleTest() { attachments_.typed().core().options.boot_id = "boot"; }

  void add_container(const std::string& id, const std::string& network, std::uint64_t inode) {
    const std::string netns = cat("/", id);
    node_.links.namespaces[netns];
    node_.links.inodes[netns] = inode;
    auto added = add(of(id, network));
    ASSERT_TRUE(added) << added.error().text();
    forget();
  }
  static RequestText of(const std::string& id, const std::string& network) {
    RequestText text = request(delegates({network}));
    text.container_id = id;
    text.netns = cat("/", id);
    return text;
  }
  Result<attach::DelOutcome> del_later(const std::string& id) {
    auto request = attach::read_text(attach::Verb::kDel, of(id, "other"), log_);
    request->rule = &rule_;
    return aio::run(loop_, attachments_.typed().del(*std::move(request)));
  }
  std::string netns_of_run() const { return node_.plugins.runs.at(0).netns; }

  Rule rule_{node_.records, node_.records, node_.links, "boot"};
};

TEST_F(RuleTest, ADelGetsTheNamespaceThatWasRecorded) {
  add_container("c1", "a", 7);

  EXPECT_TRUE(attach::complete(del_later("c1")));

  EXPECT_EQ(netns_of_run(), "/c1");
}

// `/proc/<pid>` is used again.
TEST_F(RuleTest, ADelGetsNoNamespaceWhereAnotherIsNow) {
  add_container("c1", "a", 7);
  node_.links.inodes["/c1"] = 8;

  EXPECT_TRUE(attach::complete(del_later("c1")));

  EXPECT_EQ(netns_of_run(), "");
  EXPECT_THAT(node_.records.records, IsEmpty());
}

TEST_F(RuleTest, ADelGetsNoNamespaceOfAnotherBoot) {
  add_container("c1", "a", 7);
  Rule rebooted(node_.records, node_.records, node_.links, "another boot");
  auto request = attach::read_text(attach::Verb::kDel, of("c1", "a"), log_);
  request->rule = &rebooted;

  EXPECT_TRUE(attach::complete(aio::run(loop_, attachments_.typed().del(*std::move(request)))));

  EXPECT_EQ(netns_of_run(), "");
}

TEST_F(RuleTest, ADelGetsNoNamespaceWhereNoneWasRecorded) {
  add_container("c1", "a", 7);
  node_.records.records.clear();

  EXPECT_TRUE(attach::complete(del_later("c1")));

  EXPECT_EQ(netns_of_run(), "");
}

TEST_F(RuleTest, NothingRunsWhileTheNamespaceCannotBeLookedAt) {
  add_container("c1", "a", 7);
  node_.links.error = Error::from_errno(EMFILE, "open /c1");

  EXPECT_FALSE(attach::complete(del_later("c1")));

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_TRUE(node_.records.records.contains("c1"));
}

TEST_F(RuleTest, ANetworkStaysWhileALivingContainerHoldsItsAddress) {
  add_container("c1", "a", 7);
  add_container("c2", "a", 8);
  node_.links.namespaces.erase("/c1");

  const auto held = del_later("c1");

  EXPECT_THAT(node_.runs(), IsEmpty());
  ASSERT_TRUE(held && held->failed);
  EXPECT_THAT(held->failed->text(),
              HasSubstr("network a, interface eth0 of container c1 is not deleted, because its "
                        "device or address now belongs to container c2 of pod ns1/p1"));
  EXPECT_TRUE(node_.records.records.contains("c1"));
  node_.links.namespaces.erase("/c2");
  EXPECT_TRUE(attach::complete(del_later("c1")));
}

// Thousands of containers may wait for their DEL: each would read the records of all.
TEST_F(RuleTest, ADelReadsOnlyWhatHasChangedSinceTheLastOne) {
  for (int i = 0; i < 20; ++i) add_container(cat("other", i), cat("n", i), 100 + i);
  add_container("c1", "a", 7);
  add_container("c2", "b", 8);
  ASSERT_TRUE(attach::complete(del_later("c1")));
  const int before = node_.records.record_loads;

  ASSERT_TRUE(attach::complete(del_later("c2")));

  EXPECT_LT(node_.records.record_loads - before, 10);
  // A change counts.
  add_container("c3", "n7", 9);
  node_.links.namespaces.erase("/c3");
  ASSERT_TRUE(del_later("c3")->failed);
}

// Its record was reconstructed when one of its networks was unplugged: the original had attached
// it.
TEST_F(RuleTest, ANetworkStaysWhileAContainerHoldsItsAddressWhoseNamespaceIsNotOnRecord) {
  add_container("c1", "a", 7);
  add_container("c2", "a", 8);
  node_.links.namespaces.erase("/c1");
  auto record = model::decode_record(node_.records.records.at("c2")).value();
  record.netns_inode = 0;
  node_.records.records["c2"] = model::encode_record(record);

  const auto held = del_later("c1");

  EXPECT_THAT(node_.runs(), IsEmpty());
  EXPECT_TRUE(held && held->failed);
}

TEST_F(RuleTest, AnAddressOnAnotherNetworkIsAnotherAddress) {
  add_container("c1", "a", 7);
  add_container("c2", "b", 8);

  EXPECT_TRUE(attach::complete(del_later("c1")));
}

// The author of a definition chooses its CNI name and its addresses: with those of another
// namespace's network it would keep that one's addresses from ever being free.
TEST_F(RuleTest, ADefinitionOfAnotherNamespaceHoldsNothing) {
  add_container("c1", "a", 7);
  add_container("c2", "a", 8);
  const auto define = [&](const std::string& id, const std::string& definition) {
    auto record = model::decode_record(node_.records.records.at(id)).value();
    record.attachments[0].network = definition;
    node_.records.records[id] = model::encode_record(record);
  };
  define("c1", "ns1/a");
  define("c2", "ns1/b");
  EXPECT_FALSE(attach::complete(del_later("c1")));

  define("c2", "ns2/a");

  EXPECT_TRUE(attach::complete(del_later("c1")));
}

TEST_F(RuleTest, ANetworkStaysWhileALivingContainerHoldsItsDevice) {
  add_container("c1", "a", 7);
  add_container("c2", "b", 8);
  for (const char* id : {"c1", "c2"}) {
    auto record = model::decode_record(node_.records.records.at(id)).value();
    record.attachments[0].device_id = "0000:3b:02.1";
    node_.records.records[id] = model::encode_record(record);
  }
  node_.records.scratch.at("c1")[0].as_object()->set("deviceID", "0000:3b:02.1");

  EXPECT_FALSE(attach::complete(del_later("c1")));
  EXPECT_THAT(node_.runs(), IsEmpty());

  node_.links.inodes["/c2"] = 9;  // the path is used again: its container is gone
  EXPECT_TRUE(attach::complete(del_later("c1")));
}

TEST_F(RuleTest, NothingRunsWhileARecordCannotBeRead) {
  add_container("c1", "a", 7);
  node_.records.find_record_error = Error::from_errno(EIO, "read");

  EXPECT_FALSE(attach::complete(del_later("c1")));

  EXPECT_THAT(node_.runs(), IsEmpty());
}

TEST_F(RuleTest, NothingRunsWhileItIsNotKnownWhichAddressesANetworkGave) {
  add_container("c1", "a", 7);
  auto record = model::decode_record(node_.records.records.at("c1")).value();
  record.attachments[0].result.reset();
  node_.records.records["c1"] = model::encode_record(record);
  node_.records.result_errors.emplace("a-c1-eth0", Error::from_errno(EIO, "read"));

  EXPECT_FALSE(attach::complete(del_later("c1")));

  EXPECT_THAT(node_.runs(), IsEmpty());
}

// The attachment record has them, too.
TEST_F(RuleTest, ANetworkStaysWhoseAddressIsHeldAndWhoseResultIsLost) {
  add_container("c1", "a", 7);
  add_container("c2", "a", 8);
  node_.links.namespaces.erase("/c1");
  node_.records.results.erase("a-c1-eth0");

  EXPECT_FALSE(attach::complete(del_later("c1")));

  EXPECT_THAT(node_.runs(), IsEmpty());
}

// After a rollback and the return; or its record is damaged.
TEST_F(RuleTest, ANetworkStaysWhileAContainerHoldsItsAddressThatAnotherMultusAttached) {
  for (const bool is_damaged : {false, true}) {
    add_container("c1", "a", 7);
    add_container("c2", "a", 8);
    node_.links.namespaces.erase("/c1");
    node_.records.records.erase("c2");
    if (is_damaged) node_.records.damaged_records.insert("c2");

    const auto held = del_later("c1");

    EXPECT_THAT(node_.runs(), IsEmpty());
    ASSERT_TRUE(held && held->failed);
    EXPECT_THAT(held->failed->text(), HasSubstr("now belongs to container c2 of pod ns1/p1"));
    node_.links.namespaces.erase("/c2");
    EXPECT_TRUE(attach::complete(del_later("c1")));
    forget();
  }
}

TEST_F(RuleTest, ANetworkStaysWhileAContainerHoldsItsDeviceThatAnotherMultusAttached) {
  add_container("c1", "a", 7);
  add_container("c2", "b", 8);
  for (const char* id : {"c1", "c2"}) {
    node_.records.scratch.at(id)[0].as_object()->set("deviceID", "0000:3b:02.1");
  }
  node_.records.records.erase("c2");

  EXPECT_FALSE(attach::complete(del_later("c1")));
  EXPECT_THAT(node_.runs(), IsEmpty());

  node_.links.namespaces.erase("/c2");
  EXPECT_TRUE(attach::complete(del_later("c1")));
}

// Mounts do not reach us: no path leads anywhere.
TEST_F(RuleTest, ANetworkStaysWhileItsHolderIsSeenByItsProcessesAlone) {
  add_container("c1", "a", 7);
  add_container("c2", "a", 8);
  add_container("c3", "b", 9);
  node_.links.namespaces.erase("/c1");
  node_.links.namespaces.erase("/c2");
  Result<std::set<std::uint64_t>> used = std::set<std::uint64_t>{8, 9};
  Rule seeing(node_.records, node_.records, node_.links, "boot", [&used] { return said(used); });
  const auto del = [&] {
    auto request = attach::read_text(attach::Verb::kDel, of("c1", "other"), log_);
    request->rule = &seeing;
    return attach::complete(aio::run(loop_, attachments_.typed().del(*std::move(request))));
  };

  EXPECT_FALSE(del());
  used = Error::from_errno(EMFILE, "open /proc");
  EXPECT_FALSE(del());
  EXPECT_THAT(node_.runs(), IsEmpty());

  used = std::set<std::uint64_t>{8, 9};
  node_.links.inodes["/c3"] = 8;  // the number is used again
  auto third = model::decode_record(node_.records.records.at("c3")).value();
  third.netns_inode = 8;
  node_.records.records["c3"] = model::encode_record(third);
  EXPECT_TRUE(del());
}

// The kernel uses the numbers of processes and of namespaces again.
TEST_F(RuleTest, ADelGetsNoNamespaceThatAnotherRecordNamesToo) {
  const auto add_process = [this](const std::string& id, const std::string& network) {
    RequestText text = of(id, network);
    text.netns = "/proc/7/ns/net";
    node_.links.namespaces[text.netns].clear();
    node_.links.inodes[text.netns] = 7;
    ASSERT_TRUE(add(text));
    forget();
  };
  const auto del_process = [this](const std::string& id) {
    RequestText text = of(id, "other");
    text.netns = "/proc/7/ns/net";
    auto request = attach::read_text(attach::Verb::kDel, text, log_);
    request->rule = &rule_;
    return attach::complete(aio::run(loop_, attachments_.typed().del(*std::move(request))));
  };
  add_process("c1", "a");
  add_process("c2", "b");

  EXPECT_TRUE(del_process("c1"));
  EXPECT_EQ(netns_of_run(), "");

  forget();
  EXPECT_TRUE(del_process("c2"));
  EXPECT_EQ(netns_of_run(), "/proc/7/ns/net");
}

TEST_F(RuleTest, ADelGetsNoNamespaceWhileTheBootIsNotKnown) {
  add_container("c1", "a", 7);
  Rule unsure(node_.records, node_.records, node_.links, "");
  auto request = attach::read_text(attach::Verb::kDel, of("c1", "a"), log_);
  request->rule = &unsure;

  EXPECT_TRUE(attach::complete(aio::run(loop_, attachments_.typed().del(*std::move(request)))));

  EXPECT_EQ(netns_of_run(), "");
}

// DELs that a request only implies.
class ImpliedDelTest : public RuleTest {
 protected:
  ImpliedDelTest() { attachments_.typed().core().ports.rule = &rule_; }

  void move_to_earlier_boot(const std::string& id) {
    auto record = model::decode_record(node_.records.records.at(id)).value();
    record.boot_id = "earlier";
    node_.records.records[id] = model::encode_record(record);
  }
};

// ctr: people choose the ids, paths lead through /proc, and after a boot both come again.
TEST_F(ImpliedDelTest, AnAddGivesNoDelTheNamespaceThatAnotherContainerHasByNow) {
  add_container("c1", "a", 7);
  move_to_earlier_boot("c1");
  RequestText other = of("c2", "b");
  other.netns = "/c1";  // the path is used again
  node_.links.namespaces["/c1"] = {};
  node_.links.inodes["/c1"] = 8;
  ASSERT_TRUE(add(other));
  forget();
  RequestText again = of("c1", "a");
  again.netns = "/c1 now";
  node_.links.namespaces[again.netns] = {};

  ASSERT_TRUE(add(again));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a eth0", "ADD a eth0"));
  EXPECT_EQ(netns_of_run(), "");
  EXPECT_THAT(node_.links.namespaces["/c1"], ElementsAre("eth0"));
}

TEST_F(ImpliedDelTest, AnAddGivesUpWhatALivingContainerHasByNow) {
  add_container("c1", "a", 7);
  move_to_earlier_boot("c1");
  add_container("c2", "a", 8);
  node_.links.inodes["/c1"] = 9;
  node_.links.namespaces["/c1"] = {};

  ASSERT_TRUE(add(of("c1", "b")));

  EXPECT_THAT(node_.runs(), ElementsAre("ADD b eth0"));
  EXPECT_FALSE(node_.records.results.contains("a-c1-eth0"))
      << "no later DEL may give back what it says";
}

// The container has lived since: two pods of one static address are no reason to leave links.
TEST_F(ImpliedDelTest, AnAddThatIsRepeatedInTheSameNamespaceUndoesAllOfTheFirst) {
  add_container("c1", "a", 7);
  add_container("c2", "a", 8);
  node_.links.namespaces["/c1"].clear();

  ASSERT_TRUE(add(of("c1", "a")));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a eth0", "ADD a eth0"));
  EXPECT_EQ(netns_of_run(), "/c1");
}

TEST_F(ImpliedDelTest, AnAddTouchesNothingWhileItIsNotKnownWhatOthersHave) {
  add_container("c1", "a", 7);
  move_to_earlier_boot("c1");
  add_container("c2", "b", 8);
  node_.records.records.erase("c2");
  node_.records.result_errors.emplace("b-c2-eth0", Error::from_errno(EIO, "read"));

  const auto again = add(of("c1", "b"));

  ASSERT_FALSE(again);
  EXPECT_THAT(again.error(), attach::HasCode(11));
  EXPECT_THAT(node_.runs(), IsEmpty());
}

TEST_F(ImpliedDelTest, AGcLeavesWhatALivingContainerHas) {
  add_container("c1", "a", 7);
  add_container("c2", "a", 8);
  node_.links.namespaces.erase("/c1");
  RequestText text = of("", "a");
  text.netns.clear();
  text.config =
      R"({"cniVersion":"1.1.0","name":"multus","type":"multus","delegates":[{"cniVersion":"1.1.0",)"
      R"("name":"a","type":"fake"}],"cni.dev/valid-attachments":[{"containerID":"c2","ifname":"eth0"}]})";

  const auto collected = gc(text);

  ASSERT_FALSE(collected);
  EXPECT_THAT(collected.error().text(), HasSubstr("now belongs to container c2"));
  EXPECT_THAT(node_.runs(), testing::Not(testing::Contains("DEL a eth0")));
  EXPECT_TRUE(node_.records.records.contains("c1"));
}

// They were attached one after the other; both are gone, though their namespaces may still be
// there.
TEST_F(ImpliedDelTest, AGcDeletesAllThatTheRuntimeNoLongerKnows) {
  add_container("c1", "a", 7);
  add_container("c2", "a", 8);
  RequestText text = of("", "a");
  text.netns.clear();
  text.config =
      R"({"cniVersion":"1.1.0","name":"multus","type":"multus","delegates":[{"cniVersion":"1.1.0",)"
      R"("name":"a","type":"fake"}],"cni.dev/valid-attachments":[]})";

  const auto collected = gc(text);

  ASSERT_TRUE(collected) << collected.error().text();
  EXPECT_THAT(node_.records.records, IsEmpty());
}

// The kubelet stops a sandbox more than once, and the pod's devices are the next one's by then.
TEST_F(ImpliedDelTest, ARepeatedDelLeavesTheDeviceOfThePodsNextContainer) {
  attach::TextAttachments pods(node_.cluster_ports(), log_, {.boot_id = "boot"});
  pods.typed().core().ports.rule = &rule_;
  node_.source.add_pod("ns1", "p1", {{"k8s.v1.cni.cncf.io/networks", "dev"}});
  node_.source.add_network("ns1", "dev", R"({"cniVersion":"1.0.0","name":"dev","type":"fake"})",
                           "example/device");
  node_.devices.ids["example/device"] = {"0000:3b:02.1"};
  node_.links.namespaces["/c2"];
  node_.links.inodes["/c2"] = 8;
  const auto added = aio::run(loop_, pods.add(of("c2", "a")));
  ASSERT_TRUE(added) << added.error().text();
  forget();
  RequestText repeated = of("c1", "a");
  repeated.netns.clear();

  EXPECT_TRUE(attach::complete(aio::run(loop_, pods.del(repeated))));

  EXPECT_THAT(node_.runs(), ElementsAre("DEL a eth0"));
}

// A container that the runtime asks for is the runtime's concern.
TEST_F(RuleTest, ADelOfTheRuntimeIsNotJudged) {
  add_container("c1", "a", 7);
  node_.links.inodes["/c1"] = 8;
  auto request = attach::read_text(attach::Verb::kDel, of("c1", "a"), log_);

  EXPECT_TRUE(attach::complete(aio::run(loop_, attachments_.typed().del(*std::move(request)))));

  EXPECT_EQ(netns_of_run(), "/c1");
}

// Containers come and go: their paths, addresses, devices and, after a boot, the numbers of their
// namespaces are used again. What the last one of a path has is its own until the path is gone.
class RuleProperty : public RuleTest, public ::testing::WithParamInterface<unsigned> {
 protected:
  struct Container {
    std::string id, path, network;
    std::string device = {};
    std::uint64_t inode = 0;
    bool is_of_this_boot = true;
    bool is_recorded = true;  // else the original attached it
  };
  unsigned draw(unsigned limit) { return static_cast<unsigned>(random_() % limit); }

  void add_one() {
    Container one{.id = cat("c", containers_.size()),
                  .path = cat("/p", draw(4)),
                  .network = draw(2) == 0 ? "a" : "b",
                  .inode = 100 + containers_.size()};
    if (draw(3) == 0) one.device = cat("0000:3b:02.", draw(2));
    node_.links.namespaces[one.path] = {};
    node_.links.inodes[one.path] = one.inode;
    RequestText text = of(one.id, one.network);
    text.netns = one.path;
    const auto added = add(text);
    ASSERT_TRUE(added) << added.error().text();
    forget();
    auto record = model::decode_record(node_.records.records.at(one.id)).value();
    record.attachments[0].device_id = one.device;
    if (draw(4) == 0) {
      one.is_of_this_boot = false;
      record.boot_id = "earlier";
    }
    node_.records.records[one.id] = model::encode_record(record);
    if (!one.device.empty()) {
      node_.records.scratch.at(one.id)[0].as_object()->set("deviceID", one.device);
    }
    if (one.is_of_this_boot && draw(4) == 0) {
      one.is_recorded = false;
      node_.records.records.erase(one.id);
    }
    containers_.push_back(one);
  }
  Result<void> del_one(const Container& one) {
    RequestText text = of(one.id, "other");
    text.netns = one.path;
    auto request = attach::read_text(attach::Verb::kDel, text, log_);
    request->rule = &rule_;
    return attach::complete(aio::run(loop_, attachments_.typed().del(*std::move(request))));
  }
  bool is_there(const std::string& path) const { return node_.links.namespaces.contains(path); }
  // Without a record it is not known which namespace was its own.
  bool lives(const Container& one) const {
    return one.is_of_this_boot && is_there(one.path) &&
           (!one.is_recorded || node_.links.inodes.at(one.path) == one.inode);
  }
  // Every fake plugin gives the same address, so one network has one.
  bool is_held(const Container& gone) const {
    return std::ranges::any_of(containers_, [&](const Container& other) {
      return other.id != gone.id && lives(other) && node_.records.scratch.contains(other.id) &&
             (other.network == gone.network ||
              (!gone.device.empty() && other.device == gone.device));
    });
  }

  std::minstd_rand random_{GetParam()};
  std::vector<Container> containers_;
};

TEST_P(RuleProperty, ADelTouchesNothingOfALivingContainer) {
  for (unsigned step = 0; step < 30; ++step) {
    if (containers_.empty() || draw(3) == 0) add_one();
    if (draw(6) == 0) node_.links.namespaces.erase(cat("/p", draw(4)));
    const Container& one = containers_[draw(static_cast<unsigned>(containers_.size()))];
    if (lives(one) || !node_.records.records.contains(one.id)) continue;
    const bool is_kept = is_held(one);
    const bool leads_elsewhere = is_there(one.path);  // before the fakes make what they look at
    forget();

    const auto done = del_one(one);

    const std::string where = cat("step ", step, ", container ", one.id);
    EXPECT_EQ(done.has_value(), !is_kept) << where;
    EXPECT_EQ(node_.records.records.contains(one.id), is_kept) << where;
    EXPECT_EQ(node_.runs().empty(), is_kept) << where;
    for (const auto& run : node_.plugins.runs) {
      EXPECT_EQ(run.netns, leads_elsewhere ? "" : one.path) << where;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RuleProperty, ::testing::Range(1u, 101u));

}  // namespace
}  // namespace mnet::upkeep
