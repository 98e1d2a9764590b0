// Networks side by side: which, in which order their results count, and what a failure does.
#include "attach/parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aio/group.h"
#include "aio/run.h"
#include "attach/attach.h"
#include "attach/caller.h"
#include "attach/chain.h"
#include "attach/delegate.h"
#include "attach/fake_ports.h"
#include "attach/netconf.h"
#include "attach/pod_fixture.h"
#include "attach/ports.h"
#include "base/error.h"
#include "base/text.h"

namespace mnet::attach {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

AttachmentPtr attachment(const std::string& config, const std::string& ifname) {
  Attachment made;
  made.delegate = parse_delegate(config).value();
  made.ifname = ifname;
  return std::make_shared<const Attachment>(std::move(made));
}

// The batches of a master and these, as `0 | 1 2 | 3`.
std::string batches(const std::vector<std::string>& configs,
                    ParallelAttach mode = ParallelAttach::kSafe) {
  std::vector<AttachmentPtr> attachments = {attachment(R"({"name":"m","type":"bridge"})", "eth0")};
  for (const std::string& config : configs) {
    attachments.push_back(attachment(config, cat("net", attachments.size())));
  }
  std::vector<std::string> parts;
  for (const Batch& batch : batches_of(attachments, mode)) {
    std::vector<std::string> numbers;
    for (std::size_t i = batch.first; i < batch.end; ++i) numbers.push_back(cat(i));
    parts.push_back(join(numbers, " "));
  }
  return join(parts, " | ");
}

std::string conf(const std::string& name, const std::string& type, const std::string& more = {}) {
  return cat(R"({"name":")", name, R"(","type":")", type, "\"", more, "}");
}

TEST(Batches, HoldTheMasterAloneAndTheOthersTogether) {
  EXPECT_EQ(batches({}), "0");
  EXPECT_EQ(batches({conf("a", "macvlan")}), "0 | 1");
  EXPECT_EQ(batches({conf("a", "macvlan"), conf("b", "sriov"), conf("c", "bridge")}), "0 | 1 2 3");
}

TEST(EarlyStart, IsForPluginsThatAreKnownToWaitForTheirConfiguration) {
  for (const char* type : {"bandwidth", "bridge", "portmap", "sbr", "vrf"}) {
    EXPECT_TRUE(waits_for_config(type)) << type;
  }
  for (const char* type : {"", "calico", "fake", "bridg", "bridge2", "flannel"}) {
    EXPECT_FALSE(waits_for_config(type)) << type;
  }
}

TEST(Batches, AreOfOneEachOrOfAllIfTheConfigurationSaysSo) {
  const std::vector<std::string> configs = {conf("a", "bridge"), conf("b", "sbr"),
                                            conf("c", "bridge")};
  EXPECT_EQ(batches(configs, ParallelAttach::kOff), "0 | 1 | 2 | 3");
  EXPECT_EQ(batches(configs, ParallelAttach::kAll), "0 | 1 2 3");
  EXPECT_EQ(batches({}, ParallelAttach::kAll), "0");
}

TEST(Batches, EndAtANetworkThatMayBuildOnAnother) {
  for (const std::string& alone :
       {conf("u", "unknown"), conf("u", "sbr"), conf("u", "vrf"), conf("u", "bond"),
        conf("u", "route-override"), conf("u", "vlan", R"(,"linkInContainer":true)"),
        conf("u", "macvlan", R"(,"ipam":{"type":"unknown"})"),
        std::string(R"({"name":"u","plugins":[{"type":"bridge"},{"type":"sbr"}]})")}) {
    EXPECT_EQ(batches({conf("a", "bridge"), conf("b", "vlan"), alone, conf("c", "tap"),
                       conf("d", "dummy")}),
              "0 | 1 2 | 3 | 4 5")
        << alone;
  }
}

TEST(Batches, TakeListsOfKnownPlugins) {
  const std::string list =
      R"({"name":"l","plugins":[{"type":"bridge","ipam":{"type":"host-local"}},)"
      R"({"type":"tuning"},{"type":"bandwidth"},{"type":"portmap"}]})";
  EXPECT_EQ(batches({conf("a", "ipvlan", R"(,"linkInContainer":false)"), list}), "0 | 1 2");
}

TEST(Batches, SeparateNetworksThatClaimTheSame) {
  const auto ipam = [](const std::string& members) {
    return cat(R"(,"ipam":{"type":"host-local",)", members, "}");
  };
  const std::string low = ipam(R"("subnet":"10.1.0.0/16")");
  // the same network twice
  EXPECT_EQ(batches({conf("a", "bridge"), conf("a", "bridge")}), "0 | 1 | 2");
  // the same prefix, however written
  EXPECT_EQ(batches({conf("a", "bridge", low),
                     conf("b", "bridge", ipam(R"("ranges":[[{"subnet":"10.1.0.0/16"}]])"))}),
            "0 | 1 | 2");
  EXPECT_EQ(batches({conf("a", "bridge", low),
                     conf("b", "macvlan",
                          R"(,"ipam":{"type":"static","addresses":[{"address":"10.1.2.3/16"}]})")}),
            "0 | 1 | 2");
  EXPECT_EQ(batches({conf("a", "bridge", low),
                     conf("b", "ptp",
                          R"(,"ipam":{"type":"whereabouts","range":"10.1.0.2-10.1.0.9/16"})")}),
            "0 | 1 | 2");
  // another length, or another prefix, decides itself
  EXPECT_EQ(
      batches({conf("a", "bridge", low), conf("b", "bridge", ipam(R"("subnet":"10.1.0.0/24")"))}),
      "0 | 1 2");
  EXPECT_EQ(
      batches({conf("a", "bridge", low), conf("b", "bridge", ipam(R"("subnet":"10.2.0.0/16")"))}),
      "0 | 1 2");
  // two default routes
  EXPECT_EQ(batches({conf("a", "bridge", R"(,"isDefaultGateway":true)"),
                     conf("b", "bridge", ipam(R"("routes":[{"dst":"0.0.0.0/0"}])"))}),
            "0 | 1 | 2");
  // a setting of the whole pod
  EXPECT_EQ(batches({conf("a", "tuning", R"(,"sysctl":{"net.core.somaxconn":"1"})"),
                     conf("b", "tuning", R"(,"sysctl":{"net.core.somaxconn":"2"})")}),
            "0 | 1 | 2");
  EXPECT_EQ(batches({conf("a", "tuning", R"(,"sysctl":{"net.ipv4.conf.IFNAME.forwarding":"1"})"),
                     conf("b", "tuning", R"(,"sysctl":{"net.ipv4.conf.IFNAME.forwarding":"1"})")}),
            "0 | 1 2");
  // a device that is moved in under another's name
  EXPECT_EQ(batches({conf("a", "host-device", R"(,"device":"net2")"), conf("b", "tap")}),
            "0 | 1 | 2");
}

class ParallelTest : public PodTest {
 protected:
  void SetUp() override {
    for (const char* name : {"v", "w", "x", "y"}) define(name);
    add_pod("v,w,x,y");
  }
  const std::string conf_ = delegates({"a"});
};

// pain 20
TEST_F(ParallelTest, RunsSecondariesSideBySideAfterTheMaster) {
  std::vector<std::shared_ptr<FakePlugins::Hold>> holds;
  for (const char* name : {"v", "w", "x", "y"})
    holds.push_back(node_.plugins.hold(cat("ADD ", name)));
  aio::Group group(loop_.get_executor(), log_);
  group.spawn("add", adding(request(conf_)));

  // All four wait inside their plugin at the same time.
  for (const auto& hold : holds) ASSERT_TRUE(aio::run(loop_, hold->reached.wait()));
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0"));
  for (std::size_t i = holds.size(); i-- > 0;) {
    holds[i]->release.set();
    loop_.poll();
  }
  EXPECT_TRUE(aio::run(loop_, group.join()));

  EXPECT_THAT(node_.runs(),
              ElementsAre("ADD a eth0", "ADD y net4", "ADD x net3", "ADD w net2", "ADD v net1"));
  // Whoever ended first: everything is told in the order of the list.
  EXPECT_THAT(node_.source.events,
              ElementsAre(HasSubstr("eth0"), HasSubstr("net1"), HasSubstr("net2"),
                          HasSubstr("net3"), HasSubstr("net4")));
  EXPECT_LT(status().find("net1"), status().find("net2"));
  EXPECT_LT(status().find("net3"), status().find("net4"));
  EXPECT_EQ(record().attachments.back().ifname, "net4");
}

TEST_F(ParallelTest, StartsNothingMoreAfterAFailureAndTakesAllDownNewestFirst) {
  node_.source.add_network(
      "ns1", "v",
      R"({"cniVersion":"1.0.0","name":"v","plugins":[{"type":"bridge"},{"type":"tuning"}]})");
  auto first_of_v = node_.plugins.hold("ADD v");
  auto w = node_.plugins.hold("ADD w");
  node_.plugins.errors.emplace("ADD x", Error(Errc::kPlugin, "no"));
  aio::Group group(loop_.get_executor(), log_);
  group.spawn("add", adding(request(conf_)));
  ASSERT_TRUE(aio::run(loop_, w->reached.wait()));
  loop_.poll();
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "ADD x net3"));

  node_.plugins.holds.clear();
  first_of_v->release.set();
  w->release.set();
  EXPECT_TRUE(aio::run(loop_, group.join()));

  // Neither y nor the tuning of v was started; who ran was waited for before anything came down.
  EXPECT_THAT(node_.runs(),
              ElementsAre("ADD a eth0", "ADD x net3", "ADD v net1", "ADD w net2", "DEL x net3",
                          "DEL w net2", "DEL v net1", "DEL v net1", "DEL a eth0"));
  EXPECT_TRUE(logged(R"(error adding container to network "x": no)"));
  EXPECT_THAT(node_.links.namespaces["/ns"], IsEmpty());
}

TEST_F(ParallelTest, ReportsTheErrorOfTheFirstNetworkInTheListThatFailed) {
  node_.plugins.errors.emplace("ADD w", Error(Errc::kPlugin, "w is broken"));
  node_.plugins.errors.emplace("ADD y", Error(Errc::kPlugin, "y is broken"));
  auto hold = node_.plugins.hold("ADD w");
  aio::Group group(loop_.get_executor(), log_);
  group.spawn("add", adding(request(conf_)));
  ASSERT_TRUE(aio::run(loop_, hold->reached.wait()));
  loop_.poll();  // y has failed by now

  hold->release.set();
  EXPECT_TRUE(aio::run(loop_, group.join()));

  EXPECT_TRUE(logged("w is broken"));
  EXPECT_FALSE(logged("y is broken"));
}

// 02, 12: row 70, an interface appears before their turn
TEST_F(ParallelTest, RunsNoneOfThemIfANameIsTaken) {
  node_.plugins.on_run = [&](const PluginRun& run) {
    if (run.command == "ADD" && run.ifname == "eth0") node_.links.namespaces["/ns"].insert("net3");
  };

  auto result = add(request(conf_));

  EXPECT_THAT(result.error().text(), HasSubstr("interface name net3 already exists"));
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "DEL a eth0"));
  EXPECT_THAT(node_.links.namespaces["/ns"], ElementsAre("net3"));
}

TEST_F(ParallelTest, LetsThoseThatRunFinishWhenTheCallerLeaves) {
  auto hold = node_.plugins.hold("ADD w");
  Request what = request(conf_);
  what.caller = std::make_shared<Caller>();
  aio::Group group(loop_.get_executor(), log_);
  group.spawn("add", adding(what));
  ASSERT_TRUE(aio::run(loop_, hold->reached.wait()));

  what.caller->leave();
  hold->release.set();
  EXPECT_TRUE(aio::run(loop_, group.join()));

  EXPECT_THAT(node_.links.namespaces["/ns"], IsEmpty());
  EXPECT_THAT(node_.records.scratch, IsEmpty());
  EXPECT_THAT(node_.source.statuses, IsEmpty());
}

}  // namespace
}  // namespace mnet::attach
