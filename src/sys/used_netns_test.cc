#include "sys/used_netns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "base/result.h"
#include "sys/netns.h"
#include "sys/test_netns.h"

namespace mnet::sys {
namespace {

using testing::Contains;
using testing::Not;

TEST(UsedNetns, HasThoseOfProcesses) {
  const TestNetNs other;
  if (!other.is_fresh()) GTEST_SKIP() << "needs root: makes network namespaces";

  const auto used = list_used_netns();

  ASSERT_TRUE(used) << used.error().text();
  EXPECT_THAT(*used, Contains(NetNs::own()->id().inode));
  EXPECT_THAT(*used, Contains(NetNs::open(other.path())->id().inode));
}

// As a container runtime leaves one that was killed before it started the first process.
TEST(UsedNetns, LacksOneThatADescriptorAloneHolds) {
  Result<NetNs> held;
  std::thread([&held] {
    if (::unshare(CLONE_NEWNET) == 0) held = NetNs::own();
  }).join();
  if (!held) GTEST_SKIP() << "needs root: makes network namespaces";

  const auto used = list_used_netns();

  ASSERT_TRUE(used) << used.error().text();
  EXPECT_THAT(*used, Not(Contains(held->id().inode)));
}

}  // namespace
}  // namespace mnet::sys
