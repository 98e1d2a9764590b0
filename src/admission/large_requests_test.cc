#include "admission/large_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "aio/group.h"
#include "aio/task.h"
#include "attach/room.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "chain/caller.h"
#include "cni/error.h"

namespace mnet::admission {
namespace {

using attach::kLargestWeight;
using attach::RoomFor;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::size_t kKiB = 1u << 10;

class LargeRequestsTest : public testing::Test {
 protected:
  void ask(const std::string& name, attach::RoomRequest request) {
    request.ticket = ++tickets_;
    request.container_id = name;
    group_.spawn(name, take(name, std::move(request)));
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
  std::map<std::string, std::unique_ptr<attach::Room::Share>> held_;
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

TEST_F(LargeRequestsTest, OfOneNamespaceKeepNoneOfAnotherWaiting) {
  for (int i = 0; i < 40; ++i) ask(cat(i), {.weight = 100 * kKiB, .ns = "a"});
  for (int i = 0; i < 40; ++i) {
    ask(cat("DEL", i), {.weight = 100 * kKiB, .ns = "a", .purpose = RoomFor::kDel});
  }
  given_.clear();

  ask("first", {.weight = 20 * kKiB, .ns = "b"});
  ask("second", {.weight = kLargestWeight - 20 * kKiB, .ns = "b"});
  ask("DEL", {.weight = kLargestWeight, .ns = "b", .purpose = RoomFor::kDel});

  EXPECT_THAT(given_, ElementsAre("first", "second", "DEL"));
}

TEST_F(LargeRequestsTest, OneThatWaitsForItsOwnNamespaceHoldsUpNobodyElse) {
  ask("a", {.weight = 300 * kKiB, .ns = "a"});
  ask("b", {.weight = 400 * kKiB, .ns = "b"});
  ask("waits", {.weight = 400 * kKiB, .ns = "a"});

  ask("more", {.weight = 100 * kKiB, .ns = "b"});

  EXPECT_THAT(given_, ElementsAre("a", "b", "more"));
}

TEST_F(LargeRequestsTest, GiveBackWhatTheyDoNotNeed) {
  ask("a", {.weight = kLargestWeight, .ns = "a"});
  ask("next", {.weight = kLargestWeight - 20 * kKiB, .ns = "a"});
  EXPECT_THAT(given_, ElementsAre("a"));

  held_.at("a")->keep(20 * kKiB);
  settle();

  EXPECT_THAT(given_, ElementsAre("a", "next"));
  EXPECT_EQ(room_.weight(), kLargestWeight);
  held_.clear();
  settle();
  EXPECT_EQ(room_.weight(), 0u);
}

TEST_F(LargeRequestsTest, DelsFindRoomWhateverAddsHold) {
  for (const char* ns : {"a", "b", "c", "d"}) {
    for (int i = 0; i < 10; ++i) ask(cat(ns, i), {.weight = 100 * kKiB, .ns = ns});
  }
  given_.clear();

  ask("DEL", {.weight = kLargestWeight, .ns = "a", .purpose = RoomFor::kDel});

  EXPECT_THAT(given_, ElementsAre("DEL"));
}

// Meanwhile it holds the room of its request: if both were one room, two such requests would wait
// for each other.
TEST_F(LargeRequestsTest, TheirStatusesHaveARoomOfTheirOwn) {
  for (const char* ns : {"a", "b", "c"}) ask(ns, {.weight = kLargestWeight, .ns = ns});
  given_.clear();

  for (const char* ns : {"a", "b", "c"}) {
    ask(cat(ns, " status"), {.weight = 192 * kKiB, .ns = ns, .purpose = RoomFor::kStatus});
  }

  EXPECT_THAT(given_, ElementsAre("a status", "b status"));
}

TEST_F(LargeRequestsTest, TheLargestTakesItsTurnAndIsNotPassedBySmallerOnes) {
  ask("a", {.weight = 500 * kKiB, .ns = "a"});
  ask("b", {.weight = 500 * kKiB, .ns = "b"});
  ask("largest", {.weight = kLargestWeight, .ns = "c"});
  ask("small", {.weight = 20 * kKiB, .ns = "d"});
  EXPECT_THAT(given_, ElementsAre("a", "b"));

  give_back("a");

  EXPECT_THAT(given_, ElementsAre("a", "b", "largest", "small"));
}

TEST_F(LargeRequestsTest, OneThatIsHeavierThanAllowedTakesAsMuchAsTheLargest) {
  ask("records", {.weight = 100 * kLargestWeight, .ns = "a", .purpose = RoomFor::kDel});
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

// Its rules, written anew, whatever comes: no namespace holds more than a share; a request waits
// for requests of its own namespace, or for those of two others at least; none waits for ever.
class LargeRequestsProperty : public LargeRequestsTest,
                              public testing::WithParamInterface<unsigned> {
 protected:
  struct Asked {
    std::string ns;
    RoomFor purpose;
    std::size_t weight;
  };
  std::size_t pick(std::size_t below) { return random_() % below; }

  void arrive() {
    const bool is_del = pick(3) == 0;
    const std::size_t weight =
        pick(3) == 0 ? pick(2 * kLargestWeight) : 16 * kKiB + pick(200 * kKiB);
    const std::string name = cat(asked_.size());
    asked_[name] = {.ns = cat("ns", pick(4)),
                    .purpose = is_del ? RoomFor::kDel : RoomFor::kRequest,
                    .weight = std::min((weight / kKiB + 1) * kKiB, kLargestWeight)};
    ask(name, {.weight = weight, .ns = asked_[name].ns, .purpose = asked_[name].purpose});
  }
  void give_back_one() {
    const auto one = std::next(held_.begin(), static_cast<std::ptrdiff_t>(pick(held_.size())));
    Asked& asked = asked_.at(one->first);
    if (pick(2) == 0) return give_back(std::string(one->first));
    asked.weight = std::max(kKiB, asked.weight / 2 / kKiB * kKiB);
    one->second->keep(asked.weight);
    settle();
  }

  bool is_given(const std::string& name) const {
    return std::ranges::find(given_, name) != given_.end();
  }
  void check(RoomFor purpose) {
    std::map<std::string, std::size_t> of_namespace;
    std::size_t all = 0;
    for (const auto& entry : held_) {
      const Asked& one = asked_.at(entry.first);
      if (one.purpose != purpose) continue;
      of_namespace[one.ns] += one.weight;
      all += one.weight;
    }
    EXPECT_LE(all, 2 * kLargestWeight);
    for (const auto& [ns, weight] : of_namespace) EXPECT_LE(weight, kLargestWeight) << ns;
    for (const auto& [name, one] : asked_) {
      if (one.purpose != purpose || is_given(name)) continue;
      const bool holds = of_namespace.contains(one.ns);
      EXPECT_TRUE(holds || of_namespace.size() >= 2) << name;
    }
  }

  std::mt19937 random_{GetParam()};
  std::map<std::string, Asked> asked_;
};

TEST_P(LargeRequestsProperty, EachGetsItsRoomOnceOthersEnd) {
  for (int i = 0; i < 250 || !held_.empty(); ++i) {
    if (held_.empty() || (i < 250 && pick(100) < 55)) {
      arrive();
    } else {
      give_back_one();
    }
    for (const RoomFor purpose : {RoomFor::kRequest, RoomFor::kDel}) check(purpose);
  }

  EXPECT_EQ(room_.waiting(), 0u);
  EXPECT_EQ(given_.size(), asked_.size());
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
