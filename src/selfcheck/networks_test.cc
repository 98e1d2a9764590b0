#include "selfcheck/networks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "json/json.h"
#include "selfcheck/finding.h"

namespace mnet::selfcheck {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

NodeView node() {
  return {
      .has_plugin =
          [](const std::string& type) {
            return std::set<std::string>{"bridge", "macvlan", "host-local", "host-device"}.contains(
                type);
          },
      .has_link = [](const std::string& ifname) { return ifname == "eth0"; },
      .plugin_dir = "/opt/cni/bin"};
}

TEST(Networks, ThatHaveAllTheyNeedAreFine) {
  const std::vector<Network> networks = {
      {"default/a", R"({"type":"macvlan","master":"eth0","ipam":{"type":"host-local"}})"},
      {"default/b", R"({"plugins":[{"type":"bridge"},{"type":"macvlan"}]})"}};

  EXPECT_THAT(check_networks(networks, node()), IsEmpty());
}

TEST(Networks, APluginThatIsMissingIsOneErrorForAllThatNeedIt) {
  const std::vector<Network> networks = {
      {"default/a", R"({"plugins":[{"type":"bridge"},{"type":"tuning"},{"type":"tuning"}]})"},
      {"default/b", R"({"type":"bridge","ipam":{"type":"tuning"}})"}};

  const Findings found = check_networks(networks, node());

  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].check, kPlugins);
  EXPECT_EQ(found[0].what, "the plugin \"tuning\" is not in /opt/cni/bin");
  EXPECT_THAT(found[0].why, HasSubstr("default/a, default/b do"));
}

TEST(Networks, ManyThatNeedAPluginAreNamedInPart) {
  std::vector<Network> networks;
  for (char name = 'a'; name < 'h'; ++name) networks.push_back({{name}, R"({"type":"x"})"});

  EXPECT_THAT(check_networks(networks, node()).at(0).why, HasSubstr("a, b, c, d, e and 2 more"));
}

TEST(Networks, AMasterThatIsMissingIsAnError) {
  const Findings found =
      check_networks({{"default/mac", R"({"type":"macvlan","master":"eth7"})"}}, node());

  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].check, kMasters);
  EXPECT_EQ(found[0].what, "master \"eth7\" does not exist on this node");
}

TEST(Networks, AMasterInTheContainerIsNotLookedFor) {
  const auto plugin =
      json::parse_object(R"({"type":"macvlan","master":"eth7","linkInContainer":true})");

  EXPECT_EQ(missing_link(*plugin, node().has_link), "");
}

TEST(Networks, TheDeviceOfHostDeviceIsAnInterface) {
  const auto plugin = json::parse_object(R"({"type":"host-device","device":"eth9"})");

  EXPECT_EQ(missing_link(*plugin, node().has_link), "device \"eth9\" does not exist on this node");
}

TEST(Networks, AConfigurationThatCannotBeReadIsAnError) {
  const Findings found = check_networks({{"default/a", "{"}, {"default/b", R"(["x"])"}}, node());

  ASSERT_THAT(found, SizeIs(2));
  EXPECT_THAT(found[0].what, HasSubstr("network default/a cannot be read"));
}

TEST(Networks, AConfigurationOfManyValuesIsNotBuilt) {
  std::string config = R"({"type":"bridge","x":[0)";
  for (int i = 0; i < 10'000; ++i) config += ",0";

  const Findings found = check_networks({{"default/a", config + "]}"}}, node());

  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].what, HasSubstr("it has more than 10000 values"));
}

TEST(Networks, OnlySoManyThingsThatAreMissingAreTold) {
  std::vector<Network> networks;
  for (int i = 0; i < 1000; ++i)
    networks.push_back({"a", R"({"type":"x)" + std::to_string(i) + "\"}"});

  const Findings found = check_networks(networks, node());

  ASSERT_THAT(found, SizeIs(21));
  EXPECT_THAT(found.back().what, HasSubstr("more than 20"));
}

TEST(Networks, ValuesOfOtherKindsAreNoNeeds) {
  const std::string config = R"({"plugins":[5,{"type":7,"master":[],"ipam":"x"},null]})";

  EXPECT_THAT(check_networks({{"default/a", config}}, node()), IsEmpty());
}

}  // namespace
}  // namespace mnet::selfcheck
