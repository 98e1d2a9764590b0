#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <thread>

#include "rtnl/rtnl.h"
#include "sys/netns.h"

namespace mnet::rtnl {
namespace {

using testing::ElementsAre;

TEST(FindLinks, SeesTheLinksOfTheNamespaceAndNotOurs) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: a network namespace of its own";
  // A fresh namespace has lo and nothing else. Only this thread is in it, and it ends with it.
  std::thread inside([] {
    const auto home = sys::NetNs::own().value();
    ASSERT_EQ(::unshare(CLONE_NEWNET), 0);
    sys::mark_this_thread_astray();
    const auto fresh = sys::NetNs::own().value();

    EXPECT_THAT(find_links(fresh, {"eth0", "lo", "a-name-of-sixteen", ""}).value(),
                ElementsAre("lo"));
    EXPECT_THAT(find_links(home, {"lo", "nosuch0"}).value(), ElementsAre("lo"));
    EXPECT_EQ(sys::NetNs::own().value().id(), fresh.id()) << "the thread must be back where it was";
  });
  inside.join();
}

TEST(RenameLink, GivesALinkAnotherNameAndKeepsItsIndex) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: a network namespace of its own";
  std::thread inside([] {
    ASSERT_EQ(::unshare(CLONE_NEWNET), 0);
    sys::mark_this_thread_astray();
    const auto fresh = sys::NetNs::own().value();
    const auto before = list_links(fresh).value();
    ASSERT_THAT(before, testing::SizeIs(1));
    EXPECT_EQ(before.front().name, "lo");

    ASSERT_TRUE(rename_link(fresh, before.front().index, "other0").has_value());

    const auto after = list_links(fresh).value();
    ASSERT_THAT(after, testing::SizeIs(1));
    EXPECT_EQ(after.front().name, "other0");
    EXPECT_EQ(after.front().index, before.front().index);
    EXPECT_FALSE(rename_link(fresh, 4711, "x").has_value());
  });
  inside.join();
}

}  // namespace
}  // namespace mnet::rtnl
