// The ways a task is started, stopped and awaited: run, cancelled, shielded, with_deadline, all,
// sleep.
#include "aio/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/cancel.h"
#include "aio/event.h"
#include "aio/run.h"
#include "aio/sleep.h"
#include "base/error.h"
#include "base/result.h"
#include "base/try.h"

namespace mnet::aio {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

Deadline in(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

Task<int> answer(int value) { co_return value; }
Task<int> fail(Errc code) { co_return Error(code, "no"); }
Task<int> throws() {
  throw std::runtime_error("boom");
  co_return 1;
}
Task<int> hangs() {
  MNET_CO_TRY_VOID(co_await sleep_until(kNoDeadline));
  co_return 1;
}

TEST(Run, YieldsWhatTheTaskYields) {
  EXPECT_EQ(run(answer(7)).value(), 7);
  EXPECT_EQ(run(fail(Errc::kDenied)).error().code(), Errc::kDenied);
}

Task<bool> reads_after_a_wait() {
  MNET_CO_TRY(const int& held, co_await answer(7));
  MNET_CO_TRY_VOID(co_await sleep_until(in(1ms)));
  co_return held == 7;
}

Task<int> sum_of(Task<int> first, Task<int> second) {
  MNET_CO_TRY(auto&& a, co_await std::move(first));
  MNET_CO_TRY(const int b, co_await std::move(second));
  a += b;
  co_return a;
}

Task<void> stop() { co_return Error(Errc::kDenied, "no"); }

Task<int> stops_at(Task<void> step, std::shared_ptr<bool> went_on) {
  MNET_CO_TRY_VOID(co_await std::move(step));
  *went_on = true;
  co_return 1;
}

TEST(CoTry, DeclaresTheValueOrYieldsTheError) {
  EXPECT_EQ(run(sum_of(answer(1), answer(2))).value(), 3);
  EXPECT_EQ(run(sum_of(fail(Errc::kDenied), answer(2))).error().code(), Errc::kDenied);
  EXPECT_EQ(run(sum_of(answer(1), fail(Errc::kTimeout))).error().code(), Errc::kTimeout);
}

TEST(CoTry, ReferenceStaysValidWhileTheTaskWaits) {
  EXPECT_TRUE(run(reads_after_a_wait()).value());
}

TEST(CoTry, VoidYieldsTheErrorAtOnce) {
  const auto went_on = std::make_shared<bool>(false);

  EXPECT_EQ(run(stops_at(stop(), went_on)).error().code(), Errc::kDenied);
  EXPECT_FALSE(*went_on);
}

TEST(Run, TurnsAnExceptionIntoABug) {
  auto result = run(throws());

  EXPECT_EQ(result.error().code(), Errc::kBug);
  EXPECT_THAT(result.error().text(), HasSubstr("boom"));
}

Task<void> await_never(std::shared_ptr<Event> event) {
  // Waits for nothing: not even a timer keeps the loop busy.
  (void)event;
  co_await asio::async_initiate<decltype(asio::use_awaitable), void()>([](auto) {},
                                                                       asio::use_awaitable);
  co_return Result<void>();
}

TEST(Run, ReportsATaskThatCannotEnd) {
  EXPECT_EQ(run(await_never(nullptr)).error().text(), "the task never ended");
}

TEST(SleepUntil, EndsAtItsTime) {
  const auto start = std::chrono::steady_clock::now();

  EXPECT_TRUE(run(sleep_for(20ms)).has_value());

  EXPECT_GE(std::chrono::steady_clock::now() - start, 20ms);
}

TEST(WithDeadline, CancelsTheTaskAndSaysTimeout) {
  EXPECT_EQ(run(with_deadline(hangs(), in(5ms))).error().code(), Errc::kTimeout);
  EXPECT_EQ(run(with_deadline(answer(3), in(1h))).value(), 3);
  EXPECT_EQ(run(with_deadline(fail(Errc::kDenied), in(1h))).error().code(), Errc::kDenied);
}

Task<int> finishes_although_cancelled() {
  auto slept = co_await sleep_until(kNoDeadline);
  co_return slept ? 1 : 2;
}

TEST(WithDeadline, YieldsASuccessThatCameWithTheDeadline) {
  EXPECT_EQ(run(with_deadline(finishes_although_cancelled(), in(5ms))).value(), 2);
}

Task<std::vector<int>> all_values(std::vector<Task<int>> tasks) {
  auto results = co_await all(std::move(tasks));
  std::vector<int> values;
  for (const auto& result : results) values.push_back(result ? *result : -1);
  co_return values;
}

Task<int> late(std::chrono::milliseconds after, int value) {
  MNET_CO_TRY_VOID(co_await sleep_for(after));
  co_return value;
}

TEST(All, KeepsTheOrderWhateverTheFinishingOrder) {
  std::vector<Task<int>> tasks;
  tasks.push_back(late(20ms, 1));
  tasks.push_back(fail(Errc::kIo));
  tasks.push_back(late(1ms, 3));

  EXPECT_THAT(run(all_values(std::move(tasks))).value(), ElementsAre(1, -1, 3));
  EXPECT_THAT(run(all_values({})).value(), ElementsAre());
}

TEST(All, PassesACancelOn) {
  std::vector<Task<int>> tasks;
  tasks.push_back(hangs());
  tasks.push_back(hangs());

  auto result = run(with_deadline(all_values(std::move(tasks)), in(5ms)));

  EXPECT_THAT(result.value(), ElementsAre(-1, -1));
}

// A loop as it should be: asks after each step.
Task<int> count_until_cancelled(int* steps) {
  for (;;) {
    const bool stop = co_await cancelled();
    if (stop) co_return cancelled_error();
    ++*steps;
    auto slept = co_await sleep_for(1ms);
    (void)slept;
  }
}

TEST(Cancelled, StaysTrueSoThatALoopEnds) {
  int steps = 0;

  auto result = run(with_deadline(count_until_cancelled(&steps), in(20ms)));

  EXPECT_EQ(result.error().code(), Errc::kTimeout);
  EXPECT_GT(steps, 0);
}

Task<void> cleanup(std::string* log) {
  auto slept = co_await sleep_for(10ms);
  const bool inside = co_await cancelled();
  *log += slept ? "finished" : "cut";
  *log += inside ? " cancelled" : "";
  co_return slept;
}

Task<void> works_then_cleans(std::string* log) {
  auto slept = co_await sleep_until(kNoDeadline);
  *log += slept ? "slept " : "cancelled ";
  auto cleaned = co_await shielded(cleanup(log));
  const bool still = co_await cancelled();
  *log += still ? " still" : " forgotten";
  co_return cleaned;
}

TEST(Shielded, FinishesAfterACancelAndTheCallerStaysCancelled) {
  std::string log;

  auto result = run(with_deadline(works_then_cleans(&log), in(1ms)));

  EXPECT_TRUE(result.has_value());
  EXPECT_EQ(log, "cancelled finished still");
}

Task<void> shields_first(std::string* log) {
  auto cleaned = co_await shielded(cleanup(log));
  const bool after = co_await cancelled();
  *log += after ? " after" : "";
  co_return cleaned;
}

TEST(Shielded, FinishesWhenTheCancelComesInside) {
  std::string log;

  auto result = run(with_deadline(shields_first(&log), in(1ms)));

  EXPECT_TRUE(result.has_value());
  EXPECT_EQ(log, "finished after");
}

TEST(Shielded, TurnsAnExceptionIntoABug) {
  EXPECT_EQ(run(shielded(throws())).error().code(), Errc::kBug);
}

Task<void> sleep_twice(std::string* log) {
  auto first = co_await sleep_until(kNoDeadline);
  auto second = co_await sleep_until(kNoDeadline);
  *log += first ? "slept" : "cut";
  *log += second ? " slept" : " cut";
  co_return Result<void>();
}

TEST(SleepUntil, EndsAtOnceInATaskThatIsCancelledAlready) {
  std::string log;

  EXPECT_TRUE(run(with_deadline(sleep_twice(&log), in(1ms))).has_value());

  EXPECT_EQ(log, "cut cut");
}

}  // namespace
}  // namespace mnet::aio
