#include "model/default_routes.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/address_family.h"
#include "model/delegate.h"

namespace mnet::model {
namespace {

using Gateways = std::optional<std::vector<std::string>>;

std::vector<Delegate> delegates(const std::vector<Gateways>& selection) {
  std::vector<Delegate> all;
  for (const Gateways& gateways : selection) all.emplace_back().selection.gateways = gateways;
  return all;
}

std::string error_of(const std::vector<Gateways>& selection) {
  auto all = delegates(selection);
  auto plan = plan_default_routes(all);
  return plan ? "no error" : plan.error().text();
}

const Gateways kNone;
const Gateways kOwn = std::vector<std::string>{};

TEST(DefaultRoutes, AreLeftAloneWhereNobodyAsks) {
  auto all = delegates({kNone, kNone});
  auto plan = plan_default_routes(all);

  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->is_empty());
  EXPECT_FALSE(all[0].loses_v4_default);
}

TEST(DefaultRoutes, OfTheAskedFamilyAreLostByAllOthers) {
  auto all = delegates({kNone, {{"10.1.1.1"}}, kNone});
  auto plan = plan_default_routes(all);

  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->owner(AddressFamily::kV4)->index, 1u);
  EXPECT_EQ(plan->owner(AddressFamily::kV4)->gateway->text(), "10.1.1.1");
  EXPECT_FALSE(plan->owner(AddressFamily::kV6));
  EXPECT_TRUE(all[0].loses_v4_default);
  EXPECT_FALSE(all[0].loses_v6_default);
  EXPECT_FALSE(all[1].loses_v4_default);
  EXPECT_TRUE(all[2].loses_v4_default);
}

TEST(DefaultRoutes, StayWithADelegateThatNamesNoGatewayIfItHasThem) {
  auto all = delegates({kNone, kOwn});
  auto plan = plan_default_routes(all);

  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->owner(AddressFamily::kV4)->is_conditional());
  EXPECT_TRUE(plan->owner(AddressFamily::kV6)->is_conditional());
  EXPECT_TRUE(all[0].loses_v4_default);
  EXPECT_TRUE(all[0].loses_v6_default);
  EXPECT_FALSE(all[1].loses_v4_default);
}

TEST(DefaultRoutes, GoToANamedGatewayBeforeAnEmptyList) {
  auto all = delegates({kOwn, {{"10.1.1.1"}}});
  auto plan = plan_default_routes(all);

  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->owner(AddressFamily::kV4)->index, 1u);
  EXPECT_EQ(plan->owner(AddressFamily::kV6)->index, 0u);
  EXPECT_TRUE(all[0].loses_v4_default);
  EXPECT_FALSE(all[0].loses_v6_default);
  EXPECT_TRUE(all[1].loses_v6_default);
}

TEST(DefaultRoutes, MayHaveOneGatewayOfEachFamilyOnTwoDelegates) {
  auto all = delegates({{{"10.1.1.1"}}, {{"fc00::1"}}});
  auto plan = plan_default_routes(all);

  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->owner(AddressFamily::kV4)->index, 0u);
  EXPECT_EQ(plan->owner(AddressFamily::kV6)->index, 1u);
}

TEST(DefaultRoutes, HaveNoMoreThanOneGatewayOfAFamily) {
  const std::string ecmp =
      "multus does not support ECMP for default-route; leave one gateway of each family, or one "
      "empty list, among the pod's networks";
  EXPECT_EQ(error_of({{{"10.1.1.1"}}, {{"10.1.1.1"}}}), ecmp);
  EXPECT_EQ(error_of({{{"10.1.1.1", "10.1.1.2"}}}), ecmp);
  EXPECT_EQ(error_of({{{"fc00::1"}}, kNone, {{"fc00::2"}}}), ecmp);
  EXPECT_EQ(error_of({kOwn, kOwn}), ecmp);
  // An IPv4-mapped address is one of IPv4.
  EXPECT_EQ(error_of({{{"10.1.1.1"}}, {{"::ffff:10.1.1.2"}}}), ecmp);
  EXPECT_EQ(error_of({{{"::ffff:10.1.1.2", "fc00::1"}}}), "no error");
}

}  // namespace
}  // namespace mnet::model
