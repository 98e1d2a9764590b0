#include "admission/delegate_times.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "chain/slots.h"

namespace mnet::admission {
namespace {

class DelegateTimesTest : public testing::Test {
 protected:
  chain::Slot take(std::uint64_t ticket) {
    return aio::run(loop_, times_.acquire({.ticket = ticket})).value();
  }
  // Time passes without a test having to sleep.
  static void let_time_pass() {
    const auto before = DelegateTimes::Clock::now();
    while (DelegateTimes::Clock::now() == before) {
    }
  }

  aio::asio::io_context loop_{1};
  chain::UnlimitedSlots slots_;
  DelegateTimes times_{slots_};
};

TEST_F(DelegateTimesTest, CountsFromTheQuestionForASlotUntilItIsGivenBack) {
  const DelegateTimes::Account account(times_, 1);
  EXPECT_EQ(account.total().count(), 0);

  chain::Slot slot = take(1);
  let_time_pass();
  slot.release();
  const auto first = account.total();

  EXPECT_GT(first.count(), 0);
  let_time_pass();
  EXPECT_EQ(account.total(), first);
}

TEST_F(DelegateTimesTest, CountsOneThatWasStartedEarlyFromItsTurnOn) {
  const DelegateTimes::Account account(times_, 1);
  auto early = times_.acquire_early();
  ASSERT_TRUE(early);
  let_time_pass();
  EXPECT_EQ(account.total().count(), 0);

  chain::Slot slot =
      aio::run(loop_, times_.acquire({.ticket = 1, .held = std::move(early)})).value();
  let_time_pass();
  slot.release();

  EXPECT_GT(account.total().count(), 0);
}

TEST_F(DelegateTimesTest, CountsTwoAtOnceAsOne) {
  const auto before = DelegateTimes::Clock::now();
  const DelegateTimes::Account account(times_, 1);
  chain::Slot one = take(1);
  chain::Slot other = take(1);
  for (int i = 0; i < 1000; ++i) let_time_pass();
  one.release();
  const auto still_running = account.total();
  let_time_pass();
  other.release();

  EXPECT_GT(account.total(), still_running);
  EXPECT_LE(account.total(), DelegateTimes::Clock::now() - before);
}

TEST_F(DelegateTimesTest, KeepsRequestsApartAndForgetsThoseThatAreOver) {
  const DelegateTimes::Account account(times_, 1);
  chain::Slot late;
  {
    const DelegateTimes::Account other(times_, 2);
    late = take(2);
  }
  chain::Slot of_nobody = take(3);
  let_time_pass();
  late.release();

  EXPECT_EQ(account.total().count(), 0);
}

TEST_F(DelegateTimesTest, TellsWhenARequestHasDelegatesAndWhenItHasNoneAnyMore) {
  std::vector<std::pair<std::uint64_t, bool>> told;
  DelegateTimes times(slots_, [&](std::uint64_t ticket, bool has_delegate) {
    told.emplace_back(ticket, has_delegate);
  });
  const DelegateTimes::Account account(times, 7);

  chain::Slot one = aio::run(loop_, times.acquire({.ticket = 7})).value();
  chain::Slot other = aio::run(loop_, times.acquire({.ticket = 7})).value();
  one.release();
  other.release();

  EXPECT_EQ(told, (std::vector<std::pair<std::uint64_t, bool>>{{7, true}, {7, false}}));
}

}  // namespace
}  // namespace mnet::admission
