#include "cni_node/desired.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string_view>

#include "cni_node/config_order.h"
#include "cni_node/names.h"
#include "json/json.h"

namespace mnet::cni_node {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

DesiredNow desired(std::string_view text, const Desired& before = {}) {
  return desired_of(json::parse_object(text).value(), before);
}

// 04, 4: row 98.
TEST(Desired, KindsWithoutAKeyAreNotManaged) {
  const auto now =
      desired(R"({"data":{"plugins":" a,\nb ","configs":""}})", {.manifests = Names{"m"}});

  EXPECT_THAT(*now.lists.plugins, ElementsAre("a", "b"));
  EXPECT_THAT(*now.lists.configs, IsEmpty());
  EXPECT_EQ(now.lists.manifests, std::nullopt);
  EXPECT_EQ(desired("{}").lists, Desired());
  EXPECT_EQ(desired(R"({"data":null})").lists, Desired());
}

// 04, 4: row 109.
TEST(Desired, AListWithABadNameStaysAsItWas) {
  const auto now =
      desired(R"({"data":{"plugins":"a,../x","configs":"c"}})", {.plugins = Names{"a"}});

  EXPECT_THAT(now.errors, ElementsAre("plugins: Invalid name: ../x"));
  EXPECT_THAT(*now.lists.plugins, ElementsAre("a"));
  EXPECT_THAT(*now.lists.configs, ElementsAre("c"));
}

TEST(ConfigOrder, PutsWhatIsPointedToFirst) {
  const auto order = order_configs({"a", "b", "c"}, {{"a", {"c", "other"}}, {"c", {"b", "c"}}});

  EXPECT_THAT(order.names, ElementsAre("b", "c", "a"));
  EXPECT_THAT(order.cycles, IsEmpty());
}

// 04, 4: row 106.
TEST(ConfigOrder, NamesCirclesForAllInThem) {
  const auto order =
      order_configs({"d", "a", "b", "c"}, {{"a", {"b"}}, {"b", {"c"}}, {"c", {"a"}}, {"d", {"a"}}});

  EXPECT_EQ(order.cycles.size(), 3u);
  EXPECT_EQ(order.cycles.at("c"), "pointer cycle: a -> b -> c -> a");
  EXPECT_EQ(order.cycles.at("a"), order.cycles.at("b"));
  EXPECT_THAT(order.names, ElementsAre("a", "d", "b", "c"));
}

}  // namespace
}  // namespace mnet::cni_node
