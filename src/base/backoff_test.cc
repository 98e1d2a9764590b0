#include "base/backoff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace mnet {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

Random always(double number) {
  return [number] { return number; };
}

std::vector<Backoff::Time> pauses(Backoff backoff, int count) {
  std::vector<Backoff::Time> out;
  for (int i = 0; i < count; ++i) out.push_back(backoff.next());
  return out;
}

TEST(Backoff, DoublesUpToHalfOfTheLongestAndAddsUpToAsMuch) {
  EXPECT_THAT(pauses(Backoff(1s, 10s, always(0)), 5), ElementsAre(1s, 2s, 4s, 5s, 5s));
  EXPECT_THAT(pauses(Backoff(1s, 10s, always(1)), 5), ElementsAre(2s, 4s, 8s, 10s, 10s));
}

// After a long outage all nodes have arrived at the longest pause.
TEST(Backoff, KeepsNodesApartAtTheLongestPause) {
  EXPECT_NE(pauses(Backoff(1s, 30s, always(0.2)), 9).back(),
            pauses(Backoff(1s, 30s, always(0.7)), 9).back());
}

TEST(Backoff, KeepsNodesApartThatAreAskedToWaitForTheSameTime) {
  EXPECT_EQ(Backoff(1s, 10s, always(0)).next(20s), 20s);
  EXPECT_EQ(Backoff(1s, 10s, always(1)).next(20s), 30s);
  EXPECT_EQ(Backoff(4s, 10s, always(0)).next(1s), 4s);
}

// Many pods on one node have a copy each.
TEST(Random, GivesCopiesDifferentNumbers) {
  const Random one = make_random();
  const Random other = one;  // NOLINT(performance-unnecessary-copy-initialization): tests a copy

  EXPECT_NE(one(), other());
}

}  // namespace
}  // namespace mnet
