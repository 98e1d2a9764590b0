#include "multusctl/pod_networks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "json/json.h"

namespace mnet::multusctl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kStatus =
    R"([{"name":"cbr0","interface":"eth0","ips":["10.244.0.5"],"mac":"0a:00:00:00:00:01","default":true},)"
    R"({"name":"default/blue","interface":"net1","ips":["10.1.0.5"],"mac":"0a:00:00:00:00:02"}])";

json::Object pod(const json::Object& annotations, std::string phase = "Running",
                 bool is_host = false) {
  return {{"metadata",
           json::Object{{"namespace", "default"}, {"name", "web"}, {"annotations", annotations}}},
          {"spec", json::Object{{"nodeName", "n1"}, {"hostNetwork", is_host}}},
          {"status", json::Object{{"phase", phase}}}};
}

json::Object asks(std::string_view networks, std::string_view status = {}) {
  json::Object annotations{{"k8s.v1.cni.cncf.io/networks", networks}};
  if (!status.empty()) annotations.set("k8s.v1.cni.cncf.io/network-status", status);
  return annotations;
}

std::vector<std::string> states(const PodRows& rows) {
  std::vector<std::string> out;
  for (const NetworkRow& row : rows.networks) {
    out.push_back(cat(row.network, " ", row.interface, " ", row.state));
    EXPECT_EQ(row.why.empty(), row.state == "ok" || row.state == "not-asked") << row.state;
  }
  return out;
}

TEST(PodNetworks, ShowsWhatWasAskedAndGot) {
  const PodRows rows = rows_of(pod(asks("blue", kStatus)), {"default/blue"});

  EXPECT_EQ(rows.node, "n1");
  EXPECT_THAT(states(rows), ElementsAre("cbr0 eth0 ok", "default/blue net1 ok"));
  EXPECT_THAT(rows.networks[1].ips, ElementsAre("10.1.0.5"));
}

TEST(PodNetworks, ShowsNoPhaseThatATerminalObeys) {
  const PodRows rows =
      rows_of(pod(asks("blue"), "\x1b[2J" + std::string(200, 'x')), {"default/blue"});

  EXPECT_THAT(rows.networks[0].why, StartsWith("the pod is \\x1b[2Jxxx"));
  EXPECT_THAT(rows.networks[0].why, HasSubstr("xxx...: `kubectl"));
}

TEST(PodNetworks, TellsWhyANetworkIsNotThere) {
  const DefinitionNames known = {"default/blue", "default/green"};

  EXPECT_THAT(
      states(rows_of(pod(asks("blue,green", kStatus)), known)),
      ElementsAre("cbr0 eth0 ok", "default/blue net1 ok", "default/green net2 not-attached"));
  EXPECT_THAT(
      states(rows_of(pod(asks("red", kStatus)), known)),
      ElementsAre("cbr0 eth0 ok", "default/red net1 no-definition", "default/blue net1 not-asked"));
  EXPECT_THAT(states(rows_of(pod(asks("green")), known)),
              ElementsAre("default/green net1 no-status"));
  EXPECT_THAT(states(rows_of(pod(asks("green"), "Pending"), known)),
              ElementsAre("default/green net1 pending"));
  EXPECT_THAT(states(rows_of(pod(asks("Green!")), known)), ElementsAre("  bad-annotation"));
  EXPECT_THAT(states(rows_of(pod(asks("green", "{")), known)), ElementsAre("  bad-status"));
  EXPECT_THAT(states(rows_of(pod(asks("green"), "Running", true), known)),
              ElementsAre("green  host-network"));
}

// Both texts are its author's to write.
TEST(PodNetworks, ReadsNoStatusOfMoreThanAPodCanHave) {
  std::string entries = "[{}", values = R"([{"ips":[0)";
  for (int i = 0; i < 4000; ++i) entries += ",{}";
  for (int i = 0; i < 20'000; ++i) values += ",0";

  for (const std::string& status : {entries + "]", values + "]}]"}) {
    const PodRows rows = rows_of(pod(asks("blue", status)), {"default/blue"});
    EXPECT_THAT(states(rows), ElementsAre("  bad-status"));
    EXPECT_THAT(rows.networks[0].why, HasSubstr("more than 4000 entries or 20000 values"));
  }
}

TEST(PodNetworks, ShowsTheFirstFewOfVeryManyAddresses) {
  NetworkRow row;
  for (int i = 1; i <= 9; ++i) row.ips.push_back(cat("10.0.0.", i));

  EXPECT_EQ(addresses_of(row),
            "10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4,10.0.0.5,10.0.0.6,10.0.0.7,10.0.0.8 and 1 more");
  row.ips.pop_back();
  EXPECT_THAT(addresses_of(row), testing::EndsWith("10.0.0.8"));
}

// Each with each, they would be compared for minutes.
TEST(PodNetworks, ComparesThousandsOfAddressesAtOnce) {
  std::string asked = R"([{"name":"blue","ips":["::1")",
              got = R"([{"name":"default/blue","ips":["::2")";
  for (int i = 0; i < 9000; ++i) asked += R"(,"::1")";
  for (int i = 0; i < 18'000; ++i) got += R"(,"::2")";
  const auto begun = std::clock();

  const auto rows = rows_of(pod(asks(asked + "]}]", got + R"(,"::1"]}])")), {"default/blue"});

  EXPECT_EQ(rows.networks.back().state, "ok");
  EXPECT_LT(std::clock() - begun, 5 * CLOCKS_PER_SEC);
}

TEST(PodNetworks, MarksAnotherAddressThanWasAsked) {
  const auto first =
      rows_of(pod(asks(R"([{"name":"blue","ips":["10.1.0.9/24"]}])", kStatus)), {"default/blue"});
  const auto same =
      rows_of(pod(asks(R"([{"name":"blue","ips":["10.1.0.5/24"]}])", kStatus)), {"default/blue"});
  const auto mac = rows_of(pod(asks(R"([{"name":"blue","mac":"0A:00:00:00:00:03"}])", kStatus)),
                           {"default/blue"});

  EXPECT_EQ(first.networks.back().state, "other-address");
  EXPECT_THAT(first.networks.back().why, HasSubstr("asked for 10.1.0.9/24 and got 10.1.0.5"));
  EXPECT_EQ(same.networks.back().state, "ok");
  EXPECT_EQ(mac.networks.back().state, "other-mac");
}

}  // namespace
}  // namespace mnet::multusctl
