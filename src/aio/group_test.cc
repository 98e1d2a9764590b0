#include "aio/group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "aio/event.h"
#include "aio/run.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "base/error.h"

namespace mnet::aio {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class GroupTest : public testing::Test {
 protected:
  Group::OnError recorder() {
    return [this](const std::string& name, const Error& error) {
      errors.push_back(name + ": " + error.text());
    };
  }

  asio::io_context loop;
  std::vector<std::string> errors;
};

Task<void> waits(std::shared_ptr<Event> event) { return event->wait(); }
Task<void> fails() { co_return Error(Errc::kIo, "no disk"); }
Task<void> throws_late() {
  auto slept = co_await sleep_for(1ms);
  throw std::runtime_error("boom");
  co_return slept;
}

TEST_F(GroupTest, JoinEndsWhenAllHaveEnded) {
  Group group(loop.get_executor(), recorder());
  auto event = std::make_shared<Event>();
  group.spawn("a", waits(event));
  group.spawn("b", waits(event));
  EXPECT_EQ(run(loop, group.join(std::chrono::steady_clock::now() + 2ms)).error().code(),
            Errc::kTimeout);
  EXPECT_EQ(group.size(), 2u);

  event->set();

  EXPECT_TRUE(run(loop, group.join()).has_value());
  EXPECT_EQ(group.size(), 0u);
  EXPECT_THAT(errors, IsEmpty());
}

TEST_F(GroupTest, ReportsErrorsAndExceptionsByNameAndGoesOn) {
  Group group(loop.get_executor(), recorder());
  group.spawn("thrower", throws_late());
  group.spawn("failing", fails());

  ASSERT_TRUE(run(loop, group.join()).has_value());

  EXPECT_THAT(errors, ElementsAre("failing: no disk", "thrower: unexpected exception: boom"));
}

TEST_F(GroupTest, CancelEndsAllSilentlyAndClosesTheGroup) {
  Group group(loop.get_executor(), recorder());
  group.spawn("a", waits(std::make_shared<Event>()));
  group.spawn("b", sleep_until(kNoDeadline));

  group.cancel();

  EXPECT_FALSE(group.spawn("late", fails()));
  EXPECT_TRUE(run(loop, group.join()).has_value());
  EXPECT_THAT(errors, IsEmpty());
}

// Outside the loop a cancellation is queued: by the time it is carried out, the task may be over.
TEST_F(GroupTest, ATaskMayEndBeforeItsCancellationArrives) {
  Group group(loop.get_executor(), recorder());
  auto event = std::make_shared<Event>();
  group.spawn("a", waits(event));
  loop.poll();

  event->set();
  group.cancel();

  EXPECT_TRUE(run(loop, group.join()).has_value());
  EXPECT_THAT(errors, IsEmpty());
}

TEST_F(GroupTest, TasksOutliveADroppedGroupOnlyToBeCancelled) {
  auto event = std::make_shared<Event>();
  const std::weak_ptr<Event> held = event;
  {
    Group group(loop.get_executor(), recorder());
    group.spawn("a", [](std::shared_ptr<Event> mine) -> Task<void> {
      co_return co_await mine->wait();
    }(std::move(event)));
    ASSERT_TRUE(run(loop, sleep_for(1ms)).has_value());
  }

  loop.restart();
  loop.run();

  EXPECT_TRUE(held.expired());
  EXPECT_THAT(errors, IsEmpty());
}

TEST_F(GroupTest, LoopMayGoWithTasksInside) {
  auto own = std::make_unique<asio::io_context>();
  auto group = std::make_unique<Group>(own->get_executor(), recorder());
  group->spawn("a", waits(std::make_shared<Event>()));
  own->poll();

  group.reset();
  own.reset();

  EXPECT_THAT(errors, IsEmpty());
}

}  // namespace
}  // namespace mnet::aio
