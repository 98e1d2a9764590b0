#include "admission/large_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "aio/group.h"
#include "aio/task.h"
#include "attach/room.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "chain/caller.h"
#include "cni/error.h"

namespace mnet::admission {
namespace {

using attach::kLargestWeight;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::size_t kKiB = 1u << 10;

class LargeRequestsTest : public testing::Test {
 protected:
  void ask(std::string name, attach::RoomRequest request) {
    request.ticket = ++tickets_;
    request.container_id = name;
    group_.spawn(name, take(std::move(name), std::move(request)));
    settle();
  }
  void give_back(const std::string& name) {
    held_.erase(name);
    settle();
  }
  void settle() {
    loop_.restart();
    loop_.poll();
  }

  aio::asio::io_context loop_{1};
  aio::Group group_{loop_.get_executor(), Log()};
  LargeRequests room_{{.free = 16 * kKiB}};
  std::vector<std::string> given_;
  std::map<std::string, std::shared_ptr<void>> held_;
  std::vector<Error> errors_;

 private:
  aio::Task<void> take(std::string name, attach::RoomRequest request) {
    auto held = co_await room_.take(std::move(request));
    if (!held) {
      errors_.push_back(held.error());
      co_return Result<void>();
    }
    given_.push_back(name);
    held_[name] = *std::move(held);
    co_return Result<void>();
  }

  std::uint64_t tickets_ = 0;
};

TEST_F(LargeRequestsTest, ShareTheRoomByTheirWeight) {
  for (int i = 0; i < 40; ++i) ask(cat(i), {.weight = 100 * kKiB, .ns = "a"});

  const std::size_t most = given_.size();
  EXPECT_GT(most, 5u);
  EXPECT_LE(most * 100 * kKiB, kLargestWeight);
  EXPECT_EQ(room_.weight(), most * 100 * kKiB);

  while (!held_.empty()) give_back(std::string(held_.begin()->first));
  EXPECT_EQ(given_.size(), 40u);
  EXPECT_EQ(room_.weight(), 0u);
}

TEST_F(LargeRequestsTest, OfOneNamespaceLeaveRoomToTheFirstOfAnother) {
  for (int i = 0; i < 40; ++i) ask(cat(i), {.weight = 100 * kKiB, .ns = "a"});
  given_.clear();

  ask("other", {.weight = 500 * kKiB, .ns = "b"});

  EXPECT_THAT(given_, ElementsAre("other"));
}

TEST_F(LargeRequestsTest, DelsFindRoomWhateverAddsHold) {
  for (const char* ns : {"a", "b", "c", "d"}) {
    for (int i = 0; i < 10; ++i) ask(cat(ns, i), {.weight = 100 * kKiB, .ns = ns});
  }
  given_.clear();

  ask("DEL", {.weight = 500 * kKiB, .ns = "a", .is_del = true});

  EXPECT_THAT(given_, ElementsAre("DEL"));
}

TEST_F(LargeRequestsTest, TheLargestTakesItsTurnAndIsNotPassedBySmallerOnes) {
  ask("a", {.weight = 500 * kKiB, .ns = "a"});
  ask("b", {.weight = 500 * kKiB, .ns = "b"});
  ask("largest", {.weight = kLargestWeight, .ns = "c"});
  ask("small", {.weight = 20 * kKiB, .ns = "d"});
  EXPECT_THAT(given_, ElementsAre("a", "b"));

  give_back("a");
  EXPECT_THAT(given_, ElementsAre("a", "b"));
  give_back("b");

  EXPECT_EQ(given_.at(2), "largest");
}

TEST_F(LargeRequestsTest, OneThatIsHeavierThanAllowedTakesAsMuchAsTheLargest) {
  ask("records", {.weight = 100 * kLargestWeight, .ns = "a", .is_del = true});
  EXPECT_THAT(given_, ElementsAre("records"));
  EXPECT_EQ(room_.weight(), kLargestWeight);
}

TEST_F(LargeRequestsTest, EndTheirWaitWithTheirCaller) {
  const auto caller = std::make_shared<chain::Caller>();
  ask("a", {.weight = kLargestWeight, .ns = "a"});
  ask("leaves", {.weight = kLargestWeight, .ns = "a", .caller = caller});
  ask("next", {.weight = 20 * kKiB, .ns = "b"});

  caller->leave();
  settle();
  settle();

  ASSERT_EQ(errors_.size(), 1u);
  EXPECT_EQ(errors_[0].code(), Errc::kCancelled);
  give_back("a");
  EXPECT_THAT(given_, ElementsAre("a", "next"));
}

TEST_F(LargeRequestsTest, AreToldToTryAgainAtTheEndOfTheirWait) {
  LargeRequests impatient({.free = 0, .longest_wait = std::chrono::milliseconds(0)});
  bool is_told = false;
  const auto wait = [](LargeRequests* room, bool* told) -> aio::Task<void> {
    auto first = co_await room->take({.weight = kLargestWeight, .ns = "a"});
    auto second = co_await room->take({.weight = kLargestWeight, .ns = "a"});
    EXPECT_TRUE(first);
    EXPECT_FALSE(second);
    const ErrorObject* object = second ? nullptr : second.error().origin();
    *told =
        object != nullptr && object->code == static_cast<std::uint64_t>(cni::Code::kTryAgainLater);
    co_return Result<void>();
  };
  group_.spawn("both", wait(&impatient, &is_told));
  loop_.restart();
  while (!is_told && loop_.run_one() > 0) {
  }

  EXPECT_TRUE(is_told);
  EXPECT_EQ(impatient.waiting(), 0u);
  EXPECT_EQ(impatient.weight(), 0u);
}

// Whatever comes, no request waits for ever, and no more is held than there is.
class LargeRequestsProperty : public LargeRequestsTest,
                              public testing::WithParamInterface<unsigned> {};

TEST_P(LargeRequestsProperty, EachGetsItsRoomOnceOthersEnd) {
  std::mt19937 random(GetParam());
  std::size_t asked = 0;
  const auto step = [&](bool may_arrive) {
    if (held_.empty() || (may_arrive && random() % 100 < 55)) {
      const std::size_t weight =
          random() % 3 == 0 ? random() % (2 * kLargestWeight) : 16 * kKiB + random() % (200 * kKiB);
      ask(cat(++asked),
          {.weight = weight, .ns = cat("ns", random() % 4), .is_del = random() % 3 == 0});
    } else {
      give_back(std::string(std::next(held_.begin(), random() % held_.size())->first));
    }
    EXPECT_LE(room_.weight(), 2048 * kKiB);
    EXPECT_TRUE(room_.waiting() == 0 || !held_.empty());
  };
  for (int i = 0; i < 250; ++i) step(true);
  while (!held_.empty()) step(false);

  EXPECT_EQ(room_.waiting(), 0u);
  EXPECT_EQ(given_.size(), asked);
  EXPECT_THAT(errors_, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Seeds, LargeRequestsProperty, testing::Range(1u, 21u));

TEST(FreeWeight, IsAMebibyteForAllThatAreExecutedAtOnce) {
  EXPECT_EQ(free_weight(1), 16 * kKiB);
  EXPECT_EQ(free_weight(64), 16 * kKiB);
  EXPECT_EQ(free_weight(128), 8 * kKiB);
  EXPECT_EQ(free_weight(100'000), 4 * kKiB);
}

}  // namespace
}  // namespace mnet::admission
