#include "kube/retries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "base/backoff.h"
#include "base/error.h"
#include "base/result.h"
#include "kube/reply.h"

namespace mnet::kube {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using Clock = std::chrono::steady_clock;

// The pauses of a request that is answered like that until it is given up; the clock moves by them.
std::vector<Backoff::Time> pauses_of(const Retries& rules, const Result<Reply>& reply,
                                     double random) {
  Clock::time_point now = {};
  Attempts attempts(rules, [random] { return random; }, now);
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
  const Reply terminating{.status = 403,
                          .body = R"({"details":{"causes":[{"reason":"NamespaceTerminating"}]}})"};
  EXPECT_THAT(pauses_of({.denial = 1s}, terminating, 0), ElementsAre());
}

}  // namespace
}  // namespace mnet::kube
