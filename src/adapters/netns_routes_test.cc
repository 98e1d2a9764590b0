#include "adapters/netns_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <string>
#include <utility>

#include "aio/blocking_pool.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/address_family.h"
#include "base/result.h"
#include "cni/address.h"
#include "sys/test_netns.h"

namespace mnet::adapters {
namespace {

using testing::HasSubstr;

class NetNsRoutesTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(pod_.is_fresh()) << "needs the right to make network namespaces";
    ASSERT_EQ(pod_.run("ip link add eth0 type veth peer name net1 && ip link set eth0 up && "
                       "ip link set net1 up && ip addr add 10.0.0.5/24 dev eth0 && "
                       "ip addr add 10.1.0.5/24 dev net1 && ip addr add fd01::5/64 dev net1 nodad"),
              "");
  }
  template <typename T>
  Result<T> run(aio::Task<T> task) {
    return aio::run(loop_, std::move(task));
  }
  static cni::IpAddress address(const char* text) { return cni::IpAddress::parse(text).value(); }

  sys::TestNetNs pod_;
  aio::asio::io_context loop_{1};
  aio::BlockingPool pool_{2};
  NetNsRoutes routes_{pool_, ""};
};

// 02, 12: rows 93 and 94, in a namespace.
TEST_F(NetNsRoutesTest, MoveTheDefaultFromOneInterfaceToAnother) {
  ASSERT_EQ(pod_.run("ip route add default via 10.0.0.1 dev eth0"), "");
  EXPECT_TRUE(run(routes_.has_default(pod_.path(), "eth0", AddressFamily::kV4)).value());
  EXPECT_FALSE(run(routes_.has_default(pod_.path(), "eth0", AddressFamily::kV6)).value());

  ASSERT_TRUE(run(routes_.remove_defaults(pod_.path(), "eth0", AddressFamily::kV4)));
  ASSERT_TRUE(run(routes_.add_default(pod_.path(), "net1", address("10.1.0.1"), {})));
  ASSERT_TRUE(run(routes_.add_default(pod_.path(), "net1", address("fd01::1"), {})));

  EXPECT_EQ(pod_.run("ip route show default"), "default via 10.1.0.1 dev net1 \n");
  EXPECT_THAT(pod_.run("ip -6 route show default"), HasSubstr("default via fd01::1 dev net1"));
  EXPECT_TRUE(run(routes_.has_default(pod_.path(), "net1", AddressFamily::kV6)).value());
}

TEST_F(NetNsRoutesTest, LetAnotherDefaultGiveWayOnlyIfItIsOfTheRequest) {
  ASSERT_EQ(pod_.run("ip route add default via 10.0.0.1 dev eth0"), "");

  EXPECT_FALSE(run(routes_.add_default(pod_.path(), "net1", address("10.1.0.1"), {"net1"})));
  ASSERT_TRUE(run(routes_.add_default(pod_.path(), "net1", address("10.1.0.1"), {"eth0", "net1"})));

  EXPECT_EQ(pod_.run("ip route show default"), "default via 10.1.0.1 dev net1 \n");
}

TEST_F(NetNsRoutesTest, SayWhichNamespaceCannotBeUsed) {
  EXPECT_THAT(run(routes_.has_default("/not/there", "eth0", AddressFamily::kV4)).error().text(),
              HasSubstr("no net namespace /not/there found"));
  EXPECT_FALSE(run(routes_.remove_defaults("/dev/null", "eth0", AddressFamily::kV4)));
  EXPECT_FALSE(run(routes_.add_default("", "eth0", address("10.1.0.1"), {})));
}

TEST_F(NetNsRoutesTest, LookForTheNamespaceWhereDelegatesSeeIt) {
  NetNsRoutes there(pool_, "/proc/self/ns/mnt");

  EXPECT_FALSE(run(there.has_default(pod_.path(), "net1", AddressFamily::kV4)).value());
  ASSERT_TRUE(run(there.add_default(pod_.path(), "net1", address("10.1.0.1"), {})));
  EXPECT_TRUE(run(there.has_default(pod_.path(), "net1", AddressFamily::kV4)).value());
  ASSERT_TRUE(run(there.remove_defaults(pod_.path(), "net1", AddressFamily::kV4)));

  EXPECT_EQ(pod_.run("ip route show default"), "");
}

}  // namespace
}  // namespace mnet::adapters
