#include "aio/event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aio/group.h"
#include "aio/keyed_lock.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"

namespace mnet::aio {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

Deadline in(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

// Lets everything that can run, run.
Task<void> settle() {
  for (int i = 0; i < 10; ++i) co_await asio::post(asio::use_awaitable);
  co_return Result<void>();
}

class Waiting : public testing::Test {
 protected:
  Task<void> note(std::string name, Task<void> task) {
    auto result = co_await std::move(task);
    log.push_back(name + (result                                    ? ""
                          : result.error().code() == Errc::kTimeout ? " late"
                                                                    : " cut"));
    co_return Result<void>();
  }

  asio::io_context loop;
  Group group{loop.get_executor(), Log()};
  std::vector<std::string> log;
};

TEST_F(Waiting, EventLetsAllGoOnInOrderAndNobodyWaitLater) {
  Event event;
  group.spawn("a", note("a", event.wait()));
  group.spawn("b", note("b", event.wait()));
  ASSERT_TRUE(run(loop, settle()).has_value());
  EXPECT_THAT(log, IsEmpty());

  event.set();
  ASSERT_TRUE(run(loop, group.join()).has_value());
  EXPECT_TRUE(run(loop, event.wait()).has_value());

  EXPECT_THAT(log, ElementsAre("a", "b"));
  event.reset();
  EXPECT_FALSE(event.is_set());
}

TEST_F(Waiting, EventGivesUpAtTheDeadline) {
  Event event;

  EXPECT_EQ(run(loop, event.wait(in(5ms))).error().code(), Errc::kTimeout);
}

TEST_F(Waiting, EventThatGoesEndsThoseWhoWait) {
  auto event = std::make_unique<Event>();
  group.spawn("a", note("a", event->wait()));
  ASSERT_TRUE(run(loop, settle()).has_value());

  event.reset();
  ASSERT_TRUE(run(loop, group.join()).has_value());

  EXPECT_THAT(log, ElementsAre("a cut"));
}

TEST_F(Waiting, CancelEndsAWait) {
  Event event;
  group.spawn("a", note("a", event.wait()));
  ASSERT_TRUE(run(loop, settle()).has_value());

  group.cancel();
  ASSERT_TRUE(run(loop, group.join()).has_value());

  EXPECT_THAT(log, ElementsAre("a cut"));
}

TEST_F(Waiting, NotifierWakesOnlyThoseWhoWaitNow) {
  Notifier notifier;
  group.spawn("a", note("a", notifier.wait()));
  ASSERT_TRUE(run(loop, settle()).has_value());

  notifier.notify_all();
  group.spawn("b", note("b", notifier.wait(in(5ms))));
  ASSERT_TRUE(run(loop, group.join()).has_value());

  EXPECT_THAT(log, ElementsAre("a", "b late"));
}

class Locking : public Waiting {
 protected:
  Task<void> hold(std::string key, std::string name, std::shared_ptr<Event> until) {
    auto guard = co_await lock.lock(key);
    if (!guard) {
      log.push_back(name + " gave up");
      co_return std::move(guard).error();
    }
    log.push_back(name + " in");
    auto waited = co_await until->wait();
    log.push_back(name + " out");
    co_return waited;
  }
  void start(std::string key, std::string name) {
    group.spawn(name, hold(std::move(key), name, go));
    ASSERT_TRUE(run(loop, settle()).has_value());
  }

  KeyedLock lock;
  std::shared_ptr<Event> go = std::make_shared<Event>();
};

TEST_F(Locking, SerialisesOneKeyInOrderOfArrival) {
  start("k", "a");
  start("k", "b");
  start("k", "c");
  EXPECT_EQ(lock.queue_length("k"), 3u);

  go->set();
  ASSERT_TRUE(run(loop, group.join()).has_value());

  EXPECT_THAT(log, ElementsAre("a in", "a out", "b in", "b out", "c in", "c out"));
  EXPECT_EQ(lock.queue_length("k"), 0u);
}

TEST_F(Locking, LetsOtherKeysProceed) {
  start("k", "a");
  start("other", "b");

  EXPECT_THAT(log, ElementsAre("a in", "b in"));
  go->set();
  ASSERT_TRUE(run(loop, group.join()).has_value());
}

TEST_F(Locking, ForgetsAWaiterThatIsCancelledOrLate) {
  Group impatient(loop.get_executor(), Log());
  start("k", "a");
  impatient.spawn("b", hold("k", "b", go));
  start("k", "c");
  EXPECT_EQ(run(loop, lock.lock("k", in(2ms))).error().code(), Errc::kTimeout);

  impatient.cancel();
  ASSERT_TRUE(run(loop, impatient.join()).has_value());
  EXPECT_EQ(lock.queue_length("k"), 2u);
  go->set();
  ASSERT_TRUE(run(loop, group.join()).has_value());

  EXPECT_THAT(log, ElementsAre("a in", "b gave up", "a out", "c in", "c out"));
}

TEST_F(Locking, GuardMovesAndMayOutliveTheLock) {
  KeyedLock::Guard kept;
  {
    KeyedLock gone;
    auto guard = run(loop, gone.lock("k"));
    ASSERT_TRUE(guard.has_value());
    kept = *std::move(guard);
    EXPECT_TRUE(kept);
    EXPECT_EQ(gone.queue_length("k"), 1u);
  }
  kept.release();
  EXPECT_FALSE(kept);
}

}  // namespace
}  // namespace mnet::aio
