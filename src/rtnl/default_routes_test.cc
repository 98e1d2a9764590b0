// Default routes in a real network namespace, read back by iproute2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/address_family.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "rtnl/rtnl.h"
#include "sys/netns.h"
#include "sys/test_netns.h"

namespace mnet::rtnl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two links with an address of each family: .1 and ::1 of their networks are neighbours.
class DefaultRoutesTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(pod_.is_fresh()) << "needs the right to make network namespaces";
    ASSERT_EQ(
        pod_.run("ip link add eth0 type veth peer name peer0 && ip link add net1 type veth peer "
                 "name peer1 &&"
                 "ip addr add 10.0.0.5/24 dev eth0 && ip addr add 10.1.0.5/24 dev net1 &&"
                 "ip addr add fd00::5/64 dev eth0 nodad && ip addr add fd01::5/64 dev net1 nodad &&"
                 "ip link set lo up && ip link set eth0 up && ip link set net1 up && ip link set "
                 "peer0 up && ip link set peer1 up"),
        "");
  }
  void ip(std::string_view arguments) {
    ASSERT_EQ(pod_.run(cat("ip ", arguments)), "") << arguments;
  }
  // Of all tables, without blanks at the end of the lines.
  std::vector<std::string> defaults(std::string_view family = "-4") {
    std::vector<std::string> lines;
    const std::string text = pod_.run(cat("ip -o ", family, " route show table all default"));
    for (const std::string_view line : split(trim(text), '\n')) {
      if (!line.empty()) lines.emplace_back(trim(line));
    }
    return lines;
  }
  sys::NetNs pod() { return sys::NetNs::open(pod_.path()).value(); }
  Result<void> remove(const std::string& ifname, AddressFamily family) {
    return remove_default_routes(pod(), ifname, family);
  }
  Result<void> add(const std::string& ifname, const std::string& gateway,
                   const std::vector<std::string>& own = {"eth0", "net1"}) {
    return add_default_route(pod(), ifname, gateway, own);
  }
  bool has(const std::string& ifname, AddressFamily family) {
    return has_default_route(pod(), ifname, family).value();
  }

  sys::TestNetNs pod_;
};

TEST_F(DefaultRoutesTest, AreFoundPerLinkAndFamily) {
  EXPECT_FALSE(has("eth0", AddressFamily::kV4));
  EXPECT_FALSE(has("eth0", AddressFamily::kV6));
  ip("route add default via 10.0.0.1 dev eth0");
  ip("-6 route add default via fd01::1 dev net1 metric 7");

  EXPECT_TRUE(has("eth0", AddressFamily::kV4));
  EXPECT_FALSE(has("eth0", AddressFamily::kV6));
  EXPECT_FALSE(has("net1", AddressFamily::kV4));
  EXPECT_TRUE(has("net1", AddressFamily::kV6));
  EXPECT_FALSE(has("gone0", AddressFamily::kV4));
}

// 02, 12: row 93: only the family that is asked for.
TEST_F(DefaultRoutesTest, AreRemovedOfOneFamilyAndOneLinkOnly) {
  ip("route add default via 10.0.0.1 dev eth0");
  ip("route add default via 10.1.0.1 dev net1 metric 5");
  ip("-6 route add default via fd00::1 dev eth0");

  ASSERT_TRUE(remove("eth0", AddressFamily::kV4));

  EXPECT_THAT(defaults(), ElementsAre("default via 10.1.0.1 dev net1 metric 5"));
  EXPECT_THAT(defaults("-6"), ElementsAre(HasSubstr("default via fd00::1 dev eth0")));
  ASSERT_TRUE(remove("eth0", AddressFamily::kV6));
  EXPECT_THAT(defaults("-6"), IsEmpty());
}

TEST_F(DefaultRoutesTest, AreRemovedWhateverTheyAreMadeOf) {
  ip("route add default via 10.0.0.1 dev eth0 proto dhcp metric 100 mtu 1400");
  ip("route add default dev eth0 scope link metric 50");
  ip("route add default via 10.0.0.2 dev eth0 src 10.0.0.5 metric 60 advmss 1300");
  ip("route add default via 10.0.0.3 dev eth0 tos 0x10");
  ip("route add default via 192.0.2.1 dev eth0 onlink metric 70");
  ip("route add default via inet6 fd00::1 dev eth0 metric 80");
  ip("route append default via 10.0.0.4 dev eth0 metric 100");

  ASSERT_TRUE(remove("eth0", AddressFamily::kV4));

  EXPECT_THAT(defaults(), IsEmpty());
}

TEST_F(DefaultRoutesTest, OfIpv6AreRemovedWhateverTheirMetric) {
  ip("-6 route add default via fd00::1 dev eth0 metric 10");
  ip("-6 route add default via fd00::2 dev eth0 metric 20 proto ra");
  ip("-6 route add default dev eth0");
  ip("-6 route add default from fd00::/64 via fd00::3 dev eth0");
  ip("-6 route add default via fd01::1 dev net1 metric 30");

  ASSERT_TRUE(remove("eth0", AddressFamily::kV6));

  EXPECT_THAT(defaults("-6"), ElementsAre(HasSubstr("default via fd01::1 dev net1")));
}

TEST_F(DefaultRoutesTest, WithSeveralNextHopsAreRemovedWhole) {
  ip("route add default nexthop via 10.0.0.1 dev eth0 nexthop via 10.0.0.2 dev eth0 weight 3");
  ip("route add default metric 9 nexthop via 10.0.0.1 dev eth0 nexthop via 10.1.0.1 dev net1");
  ip("-6 route add default nexthop via fd00::1 dev eth0 nexthop via fd00::2 dev eth0");
  EXPECT_TRUE(has("net1", AddressFamily::kV4));

  ASSERT_TRUE(remove("eth0", AddressFamily::kV4));
  ASSERT_TRUE(remove("eth0", AddressFamily::kV6));

  EXPECT_THAT(defaults(), IsEmpty());
  EXPECT_THAT(defaults("-6"), IsEmpty());
}

// Plugins append theirs, and the kernel makes one route of them.
TEST_F(DefaultRoutesTest, OfIpv6StayOnOtherLinksThatTheKernelJoined) {
  ip("-6 route add default via fd00::1 dev eth0");
  ip("-6 route append default via fd01::1 dev net1");
  ip("-6 route append default via fd00::2 dev eth0");

  ASSERT_TRUE(remove("eth0", AddressFamily::kV6));

  EXPECT_THAT(defaults("-6"), ElementsAre(HasSubstr("default via fd01::1 dev net1")));
}

TEST_F(DefaultRoutesTest, ThatUseNextHopObjectsAreRemovedAndTheObjectsStay) {
  ip("nexthop add id 7 via 10.0.0.1 dev eth0");
  ip("nexthop add id 8 via fd00::1 dev eth0");
  ip("route add default nhid 7");
  ip("-6 route add default nhid 8");

  ASSERT_TRUE(remove("eth0", AddressFamily::kV4));
  ASSERT_TRUE(remove("eth0", AddressFamily::kV6));

  EXPECT_THAT(defaults(), IsEmpty());
  EXPECT_THAT(defaults("-6"), IsEmpty());
  EXPECT_THAT(pod_.run("ip nexthop show"), HasSubstr("id 7 via 10.0.0.1 dev eth0"));
}

// 02, 12: row 98: a route of a length other than 0 is not a default route.
TEST_F(DefaultRoutesTest, AreNeitherHalvesNorOfOtherTablesNorNowhere) {
  ip("route add 0.0.0.0/1 via 10.0.0.1 dev eth0");
  ip("-6 route add ::/1 via fd00::1 dev eth0");
  ip("route add default via 10.0.0.1 dev eth0 table 100");
  ip("-6 route add default via fd00::1 dev eth0 table 100");
  ip("route add blackhole default metric 1");
  ip("-6 route add unreachable default metric 2");
  const auto before = pod_.run("ip route show table all; ip -6 route show table all");

  EXPECT_FALSE(has("eth0", AddressFamily::kV4));
  EXPECT_FALSE(has("eth0", AddressFamily::kV6));
  ASSERT_TRUE(remove("eth0", AddressFamily::kV4));
  ASSERT_TRUE(remove("eth0", AddressFamily::kV6));

  EXPECT_EQ(pod_.run("ip route show table all; ip -6 route show table all"), before);
}

TEST_F(DefaultRoutesTest, OfALinkThatIsNotThereNeedNoRemoval) {
  EXPECT_TRUE(remove("gone0", AddressFamily::kV4));
  EXPECT_TRUE(remove("", AddressFamily::kV6));
  EXPECT_TRUE(remove("eth0", AddressFamily::kV4));
}

// 02, 12: row 94.
TEST_F(DefaultRoutesTest, AreAddedPlainly) {
  ASSERT_TRUE(add("net1", "10.1.0.1"));
  ASSERT_TRUE(add("net1", "fd01::1"));

  EXPECT_THAT(defaults(), ElementsAre("default via 10.1.0.1 dev net1"));
  EXPECT_THAT(defaults("-6"), ElementsAre("default via fd01::1 dev net1 metric 1024 pref medium"));
  EXPECT_THAT(pod_.run("ip -d route show default"),
              HasSubstr("unicast default via 10.1.0.1 dev net1 proto boot scope global"));
}

TEST_F(DefaultRoutesTest, ThatAreThereAlreadyAreFine) {
  ip("route add default via 10.1.0.1 dev net1 proto static");
  ip("-6 route add default via fd01::1 dev net1");
  const auto before = defaults();

  EXPECT_TRUE(add("net1", "10.1.0.1"));
  EXPECT_TRUE(add("net1", "fd01::1"));

  EXPECT_EQ(defaults(), before);
  EXPECT_EQ(defaults("-6").size(), 1u);
}

TEST_F(DefaultRoutesTest, OfAnotherMetricAreNoHindrance) {
  ip("route add default via 10.0.0.1 dev eth0 metric 100");
  ip("-6 route add default via fd00::1 dev eth0 metric 100");

  ASSERT_TRUE(add("net1", "10.1.0.1"));
  ASSERT_TRUE(add("net1", "fd01::1"));

  EXPECT_EQ(defaults().size(), 2u);
  EXPECT_EQ(defaults("-6").size(), 2u);
}

TEST_F(DefaultRoutesTest, GiveWayIfTheyAreOurs) {
  ip("route add default via 10.0.0.1 dev eth0");
  ip("-6 route add default nexthop via fd00::1 dev eth0 nexthop via fd01::2 dev net1");

  ASSERT_TRUE(add("net1", "10.1.0.1"));
  ASSERT_TRUE(add("net1", "fd01::1"));

  EXPECT_THAT(defaults(), ElementsAre("default via 10.1.0.1 dev net1"));
  EXPECT_THAT(defaults("-6"), ElementsAre(HasSubstr("default via fd01::1 dev net1")));
}

TEST_F(DefaultRoutesTest, GiveWayToAnotherGatewayOfTheSameLink) {
  ip("route add default via 10.1.0.2 dev net1");

  ASSERT_TRUE(add("net1", "10.1.0.1", {}));

  EXPECT_THAT(defaults(), ElementsAre("default via 10.1.0.1 dev net1"));
}

TEST_F(DefaultRoutesTest, OfOthersStayAndAreAnError) {
  ip("route add default via 10.0.0.1 dev eth0");
  ip("-6 route add default nexthop via fd00::1 dev eth0 nexthop via fd01::2 dev net1");
  const auto before = defaults();
  const auto before_v6 = defaults("-6");

  const auto v4 = add("net1", "10.1.0.1", {"net1"});
  const auto v6 = add("net1", "fd01::1", {"net1", "gone0"});

  ASSERT_FALSE(v4);
  EXPECT_EQ(v4.error().code(), Errc::kConflict);
  EXPECT_THAT(v4.error().text(), HasSubstr("via 10.1.0.1 on net1"));
  ASSERT_FALSE(v6);
  EXPECT_EQ(defaults(), before);
  EXPECT_EQ(defaults("-6"), before_v6);
}

TEST_F(DefaultRoutesTest, ABlackHoleOfTheSameMetricIsAnError) {
  ip("route add blackhole default");

  EXPECT_FALSE(add("net1", "10.1.0.1"));

  EXPECT_THAT(defaults(), ElementsAre("blackhole default"));
}

// 02, 12: row 97.
TEST_F(DefaultRoutesTest, ViaAGatewayThatIsNotOnTheLinkAreAnError) {
  const auto v4 = add("net1", "192.0.2.1");
  const auto v6 = add("net1", "2001:db8::1");

  ASSERT_FALSE(v4);
  EXPECT_EQ(v4.error().os_errno(), ENETUNREACH);
  EXPECT_THAT(v4.error().text(), HasSubstr("network is unreachable"));
  ASSERT_FALSE(v6);
  EXPECT_EQ(v6.error().os_errno(), EHOSTUNREACH);
  EXPECT_THAT(defaults(), IsEmpty());
  EXPECT_THAT(defaults("-6"), IsEmpty());
}

TEST_F(DefaultRoutesTest, OnALinkThatIsDownOrMissingAreAnError) {
  ip("link set net1 down");

  EXPECT_FALSE(add("net1", "10.1.0.1"));
  EXPECT_EQ(add("gone0", "10.1.0.1").error().code(), Errc::kNotFound);
  EXPECT_EQ(add("eth0", "nonsense").error().code(), Errc::kInvalid);
}

TEST_F(DefaultRoutesTest, AreFoundAmongThousands) {
  ASSERT_EQ(pod_.run("for i in $(seq 0 15); do for j in $(seq 0 255); do "
                     "echo route add 172.16.$i.$j/32 via 10.0.0.1 dev eth0; done; done | ip -b -"),
            "");
  ip("route add default via 10.0.0.1 dev eth0 metric 100");

  EXPECT_TRUE(has("eth0", AddressFamily::kV4));
  ASSERT_TRUE(remove("eth0", AddressFamily::kV4));

  EXPECT_THAT(defaults(), IsEmpty());
  EXPECT_EQ(trim(pod_.run("ip route show | wc -l")), "4098");
}

TEST_F(DefaultRoutesTest, LeaveTheThreadAndItsDescriptorsAsTheyWere) {
  const auto open = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto home = sys::NetNs::own().value().id();
  const auto before = open();

  ASSERT_TRUE(add("net1", "10.1.0.1"));
  EXPECT_FALSE(add("net1", "192.0.2.1"));
  ASSERT_TRUE(remove("net1", AddressFamily::kV4));

  EXPECT_EQ(sys::NetNs::own().value().id(), home);
  EXPECT_EQ(open(), before);
}

}  // namespace
}  // namespace mnet::rtnl
