#include "kube/backoff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "kube/reply.h"
#include "kube/retries.h"

namespace mnet::kube {
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
  const Random other = one;  // NOLINT(performance-unnecessary-copy-initialization): it is about it

  EXPECT_NE(one(), other());
}

using Clock = std::chrono::steady_clock;

// The pauses of a request that is answered like that until it is given up; the clock moves by them.
std::vector<Backoff::Time> pauses_of(const Retries& rules, const Result<Reply>& reply,
                                     double random) {
  Clock::time_point now = {};
  Attempts attempts(rules, always(random), now);
  std::vector<Backoff::Time> out;
  while (const auto pause = attempts.pause_after(reply, now)) {
    out.push_back(*pause);
    now += *pause;
  }
  return out;
}

TEST(Attempts, WaitLongerAndLongerWithinTheirTime) {
  const Result<Reply> unwell(Reply{.status = 503});

  EXPECT_THAT(pauses_of({}, unwell, 0), ElementsAre(250ms, 500ms, 1s, 2s, 2500ms, 2500ms));
  EXPECT_THAT(pauses_of({}, unwell, 1), ElementsAre(500ms, 1s, 2s, 4s));
}

TEST(Attempts, EndWithWhatIsFinal) {
  EXPECT_THAT(pauses_of({}, Reply{.status = 404}, 0), ElementsAre());
  EXPECT_THAT(pauses_of({}, Reply{.status = 422}, 0), ElementsAre());
  EXPECT_THAT(pauses_of({}, Error(Errc::kCancelled, "x"), 0), ElementsAre());
}

TEST(Attempts, TakeARefusalForFinalAfterAWhile) {
  EXPECT_THAT(pauses_of({.denial = 1s}, Reply{.status = 403}, 0), ElementsAre(250ms, 500ms, 1s));
}

}  // namespace
}  // namespace mnet::kube
