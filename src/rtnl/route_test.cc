#include "rtnl/route.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "rtnl/netlink.h"

namespace mnet::rtnl {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string header(std::uint8_t family, std::uint8_t length = 0) {
  rtmsg made{};
  made.rtm_family = family;
  made.rtm_dst_len = length;
  made.rtm_table = RT_TABLE_MAIN;
  return std::string(bytes_of(made));
}

std::string with(std::string message, std::uint16_t type, std::string_view bytes) {
  append_attribute(message, type, bytes);
  return message;
}

TEST(Route, ThatWeAskForIsADefaultViaItsGateway) {
  const std::string gateway = address_bytes("10.1.0.1").value();

  const auto route = parse_route(default_route_via({.ifindex = 3, .gateway = gateway}));

  ASSERT_TRUE(route.has_value());
  EXPECT_TRUE(route->is_default());
  EXPECT_TRUE(route->is_on(3));
  EXPECT_FALSE(route->is_on(0));
  EXPECT_THAT(route->hops, ElementsAre(Hop{.ifindex = 3, .gateway = gateway}));
}

// 02, 5.4: the attribute may be absent or all zero.
TEST(Route, ToALengthOfZeroIsADefaultUnlessItNamesADestination) {
  EXPECT_TRUE(parse_route(header(AF_INET))->is_default());
  EXPECT_TRUE(parse_route(with(header(AF_INET), RTA_DST, std::string(4, '\0')))->is_default());
  EXPECT_TRUE(parse_route(with(header(AF_INET6), RTA_DST, std::string(16, '\0')))->is_default());
  EXPECT_FALSE(parse_route(with(header(AF_INET), RTA_DST, "\n\0\0\0"))->is_default());
  EXPECT_FALSE(parse_route(header(AF_INET, 1))->is_default());
}

TEST(Route, OfAnotherTableIsNoDefaultWhereverTheTableStands) {
  const std::uint32_t table = 1000;

  EXPECT_FALSE(parse_route(with(header(AF_INET), RTA_TABLE, bytes_of(table)))->is_default());
}

TEST(Route, IsDeletedByWhatItWasListedAs) {
  const std::uint32_t metric = 7;
  const std::string message =
      with(with(header(AF_INET), RTA_PRIORITY, bytes_of(metric)), 0x7f, "unknown");

  const auto route = parse_route(message);

  EXPECT_EQ(route->metric, 7u);
  EXPECT_EQ(route->deletion, message);
}

TEST(Route, OfANextHopObjectIsDeletedByTheObjectAlone) {
  const std::uint32_t number = 7;
  const std::string plain = with(header(AF_INET), RTA_NH_ID, bytes_of(number));

  const auto route =
      parse_route(with(with(plain, RTA_GATEWAY, std::string(4, '\1')), RTA_OIF, bytes_of(number)));

  EXPECT_TRUE(route->is_on(7));
  EXPECT_EQ(route->deletion, plain);
}

TEST(Route, OfAnotherFamilyOrTooShortIsNone) {
  EXPECT_FALSE(parse_route(header(AF_MPLS)).has_value());
  EXPECT_FALSE(parse_route("").has_value());
  EXPECT_FALSE(parse_route(header(AF_INET).substr(1)).has_value());
}

TEST(Attributes, EndAtTheFirstThatDoesNotFit) {
  const std::string good = with("", RTA_OIF, std::string(4, '\1'));
  std::string longer = good;
  longer[0] = 100;
  std::string endless = good;
  endless[0] = 0;

  EXPECT_EQ(attributes_in(good + good).size(), 2u);
  EXPECT_EQ(attributes_in(good + longer).size(), 1u);
  EXPECT_EQ(attributes_in(good + endless).size(), 1u);
  EXPECT_EQ(attributes_in(good + "\1").size(), 1u);
  EXPECT_THAT(attributes_in(""), IsEmpty());
}

TEST(AddressBytes, AreThoseOfAnAddressAndNothingElse) {
  EXPECT_EQ(address_bytes("1.2.3.4"), "\1\2\3\4");
  EXPECT_EQ(address_bytes("::1")->size(), 16u);
  EXPECT_FALSE(address_bytes("1.2.3").has_value());
  EXPECT_FALSE(address_bytes("fe80::1%eth0").has_value());
  EXPECT_FALSE(address_bytes("").has_value());
}

}  // namespace
}  // namespace mnet::rtnl
