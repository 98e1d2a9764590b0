// Default routes of a pod's networks (02, 5.4): which are edited, where, and what is said of it.
#include "attach/add_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attach/pod_fixture.h"
#include "base/address_family.h"
#include "base/error.h"
#include "base/text.h"
#include "chain/plugins.h"
#include "cni/address.h"
#include "cni/result.h"
#include "json/json.h"

namespace mnet::attach {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

cni::IpAddress address(std::string_view text) { return cni::IpAddress::parse(text).value(); }

cni::NetResult result(const std::string& text) {
  return cni::read_result(json::parse(text).value()).value();
}

// 02, 12: row 98
TEST(EditResult, TakesOnlyRoutesOfThatFamilyAndNoLength) {
  cni::NetResult edited = result(
      R"({"cniVersion":"1.0.0","routes":[{"dst":"0.0.0.0/0","gw":"10.0.0.1"},{"dst":"0.0.0.0/1"},)"
      R"({"dst":"::0/0","gw":"fd00::1"},{"dst":"10.0.0.0/8"}]})");

  edit_result(edited, {.remove = {AddressFamily::kV4}, .add = {address("10.1.1.254")}});

  std::vector<std::string> routes;
  for (const cni::Route& route : edited.routes) routes.push_back(route.dst.text());
  EXPECT_THAT(routes, ElementsAre("0.0.0.0/1", "::/0", "10.0.0.0/8", "0.0.0.0/0"));
  EXPECT_EQ(edited.routes.back().gw->text(), "10.1.1.254");
}

// 02, 12: row 100
TEST(EditResult, OfAnOldVersionKeepsRoutesWithTheirAddress) {
  const std::string text =
      R"({"cniVersion":"0.2.0","ip4":{"ip":"10.0.0.2/24","routes":[{"dst":"0.0.0.0/0"}]},)"
      R"("ip6":{"ip":"fd00::2/64","routes":[{"dst":"::0/0"},{"dst":"fd01::/64"}]}})";
  cni::NetResult edited = result(text);

  edit_result(edited, {.remove = {AddressFamily::kV6}, .add = {address("fd00::9")}});

  EXPECT_EQ(edited.ip4, result(text).ip4);
  ASSERT_EQ(edited.ip6->routes.size(), 2u);
  EXPECT_EQ(edited.ip6->routes[0].dst.text(), "fd01::/64");
  EXPECT_EQ(edited.ip6->routes[1].dst.text(), "::/0");
  EXPECT_EQ(edited.ip6->routes[1].gw->text(), "fd00::9");

  cni::NetResult v4_only = result(R"({"cniVersion":"0.2.0","ip4":{"ip":"10.0.0.2/24"}})");
  edit_result(v4_only, {.remove = {AddressFamily::kV6}, .add = {address("fd00::9")}});
  EXPECT_FALSE(v4_only.ip6.has_value());
}

class DefaultRoutesTest : public PodTest {
 protected:
  void SetUp() override {
    define("x");
    define("y");
    give_default("eth0", AddressFamily::kV4);
    give_default("eth0", AddressFamily::kV6);
    node_.plugins.answers["ADD a"] = answer("eth0", "10.0.0");
    node_.plugins.on_run = [&](const chain::PluginRun& run) {
      if (run.command != "ADD") return;
      for (const auto& [ifname, family] : given_) {
        if (ifname == run.ifname) node_.routes.defaults[{ifname, family}] = "its own";
      }
    };
  }
  // What the plugin of that interface sets in the pod.
  void give_default(const std::string& ifname, AddressFamily family) {
    given_.emplace_back(ifname, family);
  }

  static std::string answer(const std::string& ifname, const std::string& net) {
    return cat(R"({"cniVersion":"1.0.0","interfaces":[{"name":")", ifname,
               R"(","sandbox":"/ns"}],"ips":[{"address":")", net,
               R"(.2/24"}],"routes":[{"dst":"0.0.0.0/0","gw":")", net,
               R"(.1"},{"dst":"::/0","gw":"fd00::1"}]})");
  }
  // The lines about routes, in order.
  std::vector<std::string> edits() const {
    std::vector<std::string> lines;
    for (const std::string& line : node_.calls) {
      if (line.contains("default") || line.contains("edit routes")) lines.push_back(line);
    }
    return lines;
  }

  const std::string conf_ = delegates({"a"});
  std::vector<std::pair<std::string, AddressFamily>> given_;
};

TEST_F(DefaultRoutesTest, AreLeftAloneIfNobodyAsks) {
  add_pod("x");

  ASSERT_TRUE(add(request(conf_)));

  EXPECT_THAT(edits(), IsEmpty());
  EXPECT_EQ(node_.routes.defaults.size(), 2u);
}

// 02, 12: row 93
TEST_F(DefaultRoutesTest, OfOneFamilyMoveToTheNetworkThatNamesAGateway) {
  add_pod(R"([{"name":"x","default-route":["10.1.1.254"]}])");

  auto answered = add(request(conf_));

  ASSERT_TRUE(answered) << answered.error().text();
  EXPECT_THAT(edits(), ElementsAre("remove default v4 eth0", "edit routes a-c1-eth0 -v4",
                                   "remove default v4 net1", "add default net1 via 10.1.1.254",
                                   "edit routes x-c1-net1 -v4 +10.1.1.254"));
  EXPECT_FALSE(node_.routes.defaults.contains({"eth0", AddressFamily::kV4}));
  EXPECT_TRUE(node_.routes.defaults.contains({"eth0", AddressFamily::kV6}));
  // 02-F06: the answer and the status tell what is there now.
  ASSERT_EQ(answered->routes.size(), 1u);
  EXPECT_EQ(answered->routes[0].dst.text(), "::/0");
  EXPECT_THAT(status(), Not(HasSubstr("10.0.0.1\"")));
  EXPECT_THAT(status(), HasSubstr("10.1.1.254"));
}

// 02, 12: row 94
TEST_F(DefaultRoutesTest, OfBothFamiliesMoveAndTheCacheFollows) {
  add_pod(R"([{"name":"x","default-route":["10.1.1.254","fd01::1"]}])");

  ASSERT_TRUE(add(request(conf_)));

  EXPECT_THAT(
      node_.routes.defaults,
      ElementsAre(testing::Pair(std::pair(std::string("net1"), AddressFamily::kV4), "10.1.1.254"),
                  testing::Pair(std::pair(std::string("net1"), AddressFamily::kV6), "fd01::1")));
  const auto cached = [&](const std::string& name) {
    return json::dump(*node_.records.results.at(name).result);
  };
  EXPECT_THAT(cached("a-c1-eth0"), Not(HasSubstr("routes")));
  EXPECT_THAT(cached("x-c1-net1"), HasSubstr(R"({"dst":"0.0.0.0/0","gw":"10.1.1.254"})"));
  EXPECT_THAT(cached("x-c1-net1"), HasSubstr(R"({"dst":"::/0","gw":"fd01::1"})"));
  EXPECT_EQ(*record().attachments[1].result, *node_.records.results.at("x-c1-net1").result);
  EXPECT_THAT(node_.records.unsynced, IsEmpty());
}

// 02, 12: row 95
TEST_F(DefaultRoutesTest, StayWithANetworkThatNamesNoGatewayIfItHasOne) {
  add_pod(R"([{"name":"x","default-route":[]},{"name":"y"}])");
  give_default("net1", AddressFamily::kV4);
  give_default("net2", AddressFamily::kV4);

  ASSERT_TRUE(add(request(conf_)));

  // Settled when all are there (02, 5.1 step 8).
  EXPECT_THAT(edits(), ElementsAre("remove default v4 eth0", "edit routes a-c1-eth0 -v4",
                                   "remove default v4 net2", "edit routes y-c1-net2 -v4"));
  EXPECT_TRUE(node_.routes.defaults.contains({"net1", AddressFamily::kV4}));
  EXPECT_TRUE(node_.routes.defaults.contains({"eth0", AddressFamily::kV6}));
}

// 02, 12: row 95, its interface has none
TEST_F(DefaultRoutesTest, AreNeverTakenFromAPodThatWouldHaveNoneThen) {
  add_pod(R"([{"name":"x","default-route":[]}])");

  ASSERT_TRUE(add(request(conf_)));

  EXPECT_THAT(edits(), IsEmpty());
  EXPECT_EQ(node_.routes.defaults.size(), 2u);
}

// 02, 12: row 96
TEST_F(DefaultRoutesTest, OfOneFamilyHaveOneGateway) {
  add_pod(
      R"([{"name":"x","default-route":["10.1.1.254"]},{"name":"y","default-route":["10.2.2.2"]}])");

  EXPECT_THAT(add(request(conf_)).error().text(), HasSubstr("ECMP"));
  EXPECT_THAT(node_.calls, IsEmpty());
}

// 02, 12: row 97; pain 40
TEST_F(DefaultRoutesTest, ThatCannotBeSetFailTheAddAndAllIsTakenDown) {
  add_pod(R"([{"name":"x","default-route":["10.1.1.254"]}])");
  node_.routes.errors.emplace("add default net1 via 10.1.1.254",
                              Error::from_errno(ENETUNREACH, "via 10.1.1.254"));

  auto failed = add(request(conf_));

  EXPECT_EQ(
      failed.error().text(),
      "Multus: [ns1/p1/u1]: error setting default gateway: network \"ns1/x\": via 10.1.1.254: "
      "network is unreachable; a gateway must be in one of the networks of net1");
  EXPECT_THAT(node_.runs(), ElementsAre("ADD a eth0", "ADD x net1", "DEL x net1", "DEL a eth0"));
  EXPECT_THAT(node_.source.statuses, IsEmpty());
}

// 02, 12: row 99: the records refuse what they cannot edit
TEST_F(DefaultRoutesTest, SayWhatCouldNotBeEdited) {
  add_pod(R"([{"name":"x","default-route":["10.1.1.254"]}])");
  const auto fails_with = [&](const std::string& text) {
    auto failed = add(request(conf_));
    EXPECT_EQ(failed.error().text(), cat("Multus: [ns1/p1/u1]: ", text));
    EXPECT_THAT(node_.runs(), Contains("DEL a eth0"));
    node_.records.errors.clear();
    node_.routes.errors.clear();
    EXPECT_TRUE(del(request(conf_)));
    forget();
  };

  node_.routes.errors.emplace("remove default v4 eth0", Error(Errc::kIo, "EPERM"));
  fails_with(R"(error deleting default gateway: network "a": EPERM)");
  node_.records.errors.emplace("edit routes a-c1-eth0 -v4",
                               Error(Errc::kInvalid, "not supported version: 0.9.0"));
  fails_with(
      R"(error deleting default gateway in cache: network "a": not supported version: 0.9.0)");
  node_.records.errors.emplace("edit routes x-c1-net1 -v4 +10.1.1.254",
                               Error(Errc::kInvalid, "wrong routes format"));
  fails_with(R"(error setting default gateway in cache: network "ns1/x": wrong routes format)");
}

// 02, 12: row 112
TEST_F(DefaultRoutesTest, OfAnEmptyResultAreNotEdited) {
  add_pod(R"([{"name":"x","default-route":["10.1.1.254"]},{"name":"y"}])");
  node_.plugins.answers["ADD y"] = R"({"cniVersion":"1.0.0"})";

  ASSERT_TRUE(add(request(conf_)));

  EXPECT_THAT(edits(), Not(Contains(HasSubstr("net2"))));
}

}  // namespace
}  // namespace mnet::attach
