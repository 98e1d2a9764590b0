#include "daemon/replay_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace mnet::daemon {
namespace {

using testing::ElementsAre;
using testing::Optional;
using testing::Pair;
using testing::SizeIs;

// Files of tests are named after their namespace: `a1`, `a2`, `b1`.
std::string namespace_of(const ReplayQueue::Place& place) { return place.second.substr(0, 1); }

// Takes and begins until nothing may go.
std::vector<std::string> begin_all(ReplayQueue& queue) {
  std::vector<std::string> begun;
  while (const std::optional<ReplayQueue::Place> place = queue.take()) {
    if (queue.begin(*place, namespace_of(*place))) begun.push_back(place->second);
  }
  return begun;
}

TEST(ReplayQueue, NoNamespaceHasAllPlaces) {
  ReplayQueue queue(3);
  queue.assign("/d", {"a1", "a2", "a3"});

  EXPECT_THAT(begin_all(queue), SizeIs(2));
}

// Two plugins that hang must not hold up what comes after them in the folder.
TEST(ReplayQueue, EachNamespaceHasItsTurnFirst) {
  ReplayQueue queue(4);
  queue.assign("/d", {"a1", "a2", "a3", "b1", "c1"});

  EXPECT_THAT(begin_all(queue), ElementsAre("a1", "b1", "c1", "a2", "a3"));
}

TEST(ReplayQueue, TheNamespaceThatHadItsTurnLongestAgoGoesNext) {
  ReplayQueue queue(1);
  queue.assign("/d", {"a1", "a2", "b1", "b2"});
  std::vector<std::string> begun;
  while (begun.size() < 4) {
    const auto place = queue.take();
    ASSERT_TRUE(place.has_value());
    if (!queue.begin(*place, namespace_of(*place))) continue;
    begun.push_back(place->second);
    queue.end(*place);
  }

  EXPECT_THAT(begun, ElementsAre("a1", "b1", "a2", "b2"));
}

// What came while all places were taken is found by the next listing.
TEST(ReplayQueue, ANewNamespaceGoesBeforeOneThatWaits) {
  ReplayQueue queue(2);
  queue.assign("/d", {"a1", "a2", "a3"});
  EXPECT_THAT(begin_all(queue), ElementsAre("a1"));

  queue.assign("/d", {"a1", "a2", "a3", "z1"});

  EXPECT_THAT(begin_all(queue), ElementsAre("z1"));
}

TEST(ReplayQueue, WhatIsNoLongerListedDoesNotWait) {
  ReplayQueue queue(2);
  queue.assign("/d", {"a1", "a2", "a3"});
  EXPECT_THAT(begin_all(queue), ElementsAre("a1"));

  queue.assign("/d", {"a3"});
  queue.assign("/other", {});
  queue.end({"/d", "a1"});

  EXPECT_THAT(queue.take(), Optional(Pair("/d", "a3")));
}

TEST(ReplayQueue, IsIdleWhenNothingWaitsAndNothingRuns) {
  ReplayQueue queue(2);
  EXPECT_TRUE(queue.is_idle());
  queue.assign("/d", {"a1"});
  EXPECT_FALSE(queue.is_idle());
  const auto place = queue.take();
  EXPECT_FALSE(queue.is_idle());

  queue.end(*place);

  EXPECT_TRUE(queue.is_idle());
}

}  // namespace
}  // namespace mnet::daemon
