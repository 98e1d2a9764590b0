#include "daemon/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/slots.h"
#include "aio/group.h"
#include "aio/task.h"
#include "base/result.h"
#include "base/text.h"
#include "chain/caller.h"

namespace mnet::daemon {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// Takes turns at the slots and notes in which order they are given.
class AdmissionTest : public testing::Test {
 protected:
  void ask(Admission& admission, std::string name, adapters::SlotRequest turn) {
    group_.spawn(name, take(&admission, name, std::move(turn)));
    loop_.restart();
    loop_.poll();
  }
  void give_back(const std::string& name) {
    std::erase_if(held_, [&](const auto& entry) { return entry.first == name; });
    loop_.restart();
    loop_.poll();
  }
  void settle() {
    loop_.restart();
    loop_.poll();
  }

  aio::asio::io_context loop_{1};
  aio::Group group_{loop_.get_executor(), Log()};
  std::vector<std::string> given_;
  std::vector<std::pair<std::string, adapters::Slot>> held_;

 private:
  aio::Task<void> take(Admission* admission, std::string name, adapters::SlotRequest turn) {
    auto slot = co_await admission->acquire(std::move(turn));
    if (!slot) {
      given_.push_back(cat("refused ", name));
      co_return std::move(slot).error();
    }
    given_.push_back(name);
    held_.emplace_back(name, *std::move(slot));
    co_return Result<void>();
  }
};

TEST_F(AdmissionTest, GivesEverybodyASlotWhenThereIsNoBound) {
  Admission admission(std::nullopt);

  for (std::uint64_t i = 0; i < 100; ++i) ask(admission, cat(i), {.ticket = i});

  EXPECT_EQ(held_.size(), 100u);
  EXPECT_EQ(admission.running(), 100u);
  EXPECT_EQ(admission.waiting(), 0u);
}

TEST_F(AdmissionTest, GivesEarlySlotsOutOfHalfOfThem) {
  Admission admission(8, 2);
  std::vector<adapters::Slot> early;
  while (auto slot = admission.acquire_early()) early.push_back(*std::move(slot));

  EXPECT_EQ(early.size(), 3u);
  for (std::uint64_t i = 0; i < 5; ++i) ask(admission, cat(i), {.ticket = i});
  EXPECT_THAT(given_, ElementsAre("0", "1", "2"));  // six are open to all but DELs
  EXPECT_EQ(admission.running(), 6u);
}

TEST_F(AdmissionTest, GivesNoEarlySlotWhileSomebodyWaitsOrThereIsOnlyOne) {
  Admission single(1);
  EXPECT_FALSE(single.acquire_early());
  Admission admission(4, 3);
  ask(admission, "runs", {.ticket = 1});
  ask(admission, "waits", {.ticket = 2});

  EXPECT_FALSE(admission.acquire_early());
  EXPECT_TRUE(Admission(std::nullopt).acquire_early());
}

TEST_F(AdmissionTest, TurnsAnEarlySlotIntoTheOneThatIsAskedFor) {
  Admission admission(2);
  auto early = admission.acquire_early();
  ASSERT_TRUE(early);
  ask(admission, "other", {.ticket = 1});

  ask(admission, "early", {.ticket = 2, .held = std::move(early)});
  EXPECT_THAT(given_, ElementsAre("other", "early"));
  EXPECT_EQ(admission.running(), 2u);
  give_back("early");
  EXPECT_EQ(admission.running(), 1u);
}

TEST_F(AdmissionTest, GivesAnEarlySlotBackIfItsCallerHasLeft) {
  Admission admission(2);
  auto caller = std::make_shared<chain::Caller>();
  caller->leave();

  ask(admission, "early", {.ticket = 1, .caller = caller, .held = admission.acquire_early()});

  EXPECT_THAT(given_, ElementsAre("refused early"));
  EXPECT_EQ(admission.running(), 0u);
}

TEST_F(AdmissionTest, LetsTheOlderRequestGoFirstWheneverItAsks) {
  Admission admission(1);
  ask(admission, "first", {.ticket = 1});
  ask(admission, "fourth", {.ticket = 4});
  ask(admission, "second", {.ticket = 2});
  ask(admission, "second again", {.ticket = 2});
  ask(admission, "third", {.ticket = 3});

  for (const char* name : {"first", "second", "second again", "third"}) give_back(name);

  EXPECT_THAT(given_, ElementsAre("first", "second", "second again", "third", "fourth"));
  EXPECT_EQ(admission.most(), 1u);
}

TEST_F(AdmissionTest, KeepsSlotsForDel) {
  Admission admission(3, 1);
  for (std::uint64_t i = 1; i <= 3; ++i) ask(admission, cat("add ", i), {.ticket = i});
  ask(admission, "del 4", {.ticket = 4, .is_del = true});
  EXPECT_THAT(given_, ElementsAre("add 1", "add 2", "del 4"));

  give_back("del 4");
  EXPECT_EQ(given_.size(), 3u);  // the kept slot stays free

  give_back("add 1");
  EXPECT_EQ(given_.back(), "add 3");
}

TEST_F(AdmissionTest, LetsADelPassAnOlderRequestThatMustLeaveAKeptSlotFree) {
  Admission admission(2, 1);
  ask(admission, "add 1", {.ticket = 1});
  ask(admission, "del 2", {.ticket = 2, .is_del = true});
  ask(admission, "add 3", {.ticket = 3});
  ask(admission, "del 4", {.ticket = 4, .is_del = true});

  give_back("del 2");

  EXPECT_THAT(given_, ElementsAre("add 1", "del 2", "del 4"));
}

TEST_F(AdmissionTest, HasOneSlotForAllEvenIfMoreAreKept) {
  Admission admission(1, 1);

  ask(admission, "add", {.ticket = 1});

  EXPECT_THAT(given_, ElementsAre("add"));
}

TEST_F(AdmissionTest, DropsTheOneWhoLeftWhileWaiting) {
  Admission admission(1);
  const auto caller = std::make_shared<chain::Caller>();
  ask(admission, "first", {.ticket = 1});
  ask(admission, "impatient", {.ticket = 2, .caller = caller});
  ask(admission, "third", {.ticket = 3});

  caller->leave();
  settle();

  EXPECT_THAT(given_, ElementsAre("first", "refused impatient"));
  EXPECT_EQ(admission.waiting(), 1u);
  give_back("first");
  EXPECT_EQ(given_.back(), "third");
}

// 02, 0.5
TEST_F(AdmissionTest, ADelEndsTheWaitOfEarlierRequestsOfItsContainer) {
  Admission admission(2, 1);
  ask(admission, "busy", {.ticket = 1, .container_id = "c0"});
  EXPECT_TRUE(admission.is_full());
  ask(admission, "add", {.ticket = 2, .container_id = "c1"});
  ask(admission, "other", {.ticket = 3, .container_id = "c2"});

  admission.dismiss_others("c1");
  ask(admission, "del", {.ticket = 4, .container_id = "c1", .is_del = true});

  EXPECT_THAT(given_, UnorderedElementsAre("busy", "refused add", "del"));
  EXPECT_EQ(admission.waiting(), 1u);
}

TEST_F(AdmissionTest, DismissesOneWhoWaitsAndNobodyElse) {
  Admission admission(1);
  ask(admission, "first", {.ticket = 1});
  ask(admission, "second", {.ticket = 2});
  ask(admission, "third", {.ticket = 3});

  admission.dismiss(1);  // has its slot already
  admission.dismiss(2);
  settle();

  EXPECT_THAT(given_, ElementsAre("first", "refused second"));
  EXPECT_EQ(admission.running(), 1u);
  EXPECT_EQ(admission.waiting(), 1u);
}

TEST_F(AdmissionTest, RefusesTheOneWhoHasLeftBefore) {
  Admission admission(std::nullopt);
  const auto caller = std::make_shared<chain::Caller>();
  caller->leave();

  ask(admission, "late", {.ticket = 1, .caller = caller});

  EXPECT_THAT(given_, ElementsAre("refused late"));
}

TEST_F(AdmissionTest, PassesTheSlotOnWhenItsOwnerLeftAtTheSameMoment) {
  Admission admission(1);
  const auto caller = std::make_shared<chain::Caller>();
  ask(admission, "first", {.ticket = 1});
  ask(admission, "impatient", {.ticket = 2, .caller = caller});
  ask(admission, "third", {.ticket = 3});

  caller->leave();
  give_back("first");

  EXPECT_THAT(given_, ElementsAre("first", "refused impatient", "third"));
  EXPECT_EQ(admission.running(), 1u);
}

TEST_F(AdmissionTest, TakesWaitersOffTheLineWhenTheyAreCancelled) {
  Admission admission(1);
  ask(admission, "first", {.ticket = 1});
  ask(admission, "second", {.ticket = 2});

  group_.cancel();
  settle();

  EXPECT_EQ(admission.waiting(), 0u);
  EXPECT_THAT(given_, ElementsAre("first", "refused second"));
}

// One request works at a time; one that waits for a delegate makes room for the next.
class PaceTest : public AdmissionTest {
 protected:
  Admission paced(std::chrono::milliseconds longest = std::chrono::hours(1)) {
    return Admission(10, 1, loop_.get_executor(),
                     {.most = 1, .more_for_del = 1, .longest = longest});
  }
};

TEST_F(PaceTest, LetsTheNextOneInWhenOneWaitsForADelegateOrEnds) {
  Admission admission = paced();
  for (std::uint64_t i = 1; i <= 4; ++i) ask(admission, cat(i), {.ticket = i});
  EXPECT_THAT(given_, ElementsAre("1"));

  admission.pacer()(1, true);
  settle();
  EXPECT_THAT(given_, ElementsAre("1", "2"));

  give_back("2");
  EXPECT_THAT(given_, ElementsAre("1", "2", "3"));
}

TEST_F(PaceTest, KeepsOthersOutWhileOneIsBackFromItsDelegate) {
  Admission admission = paced();
  ask(admission, "first", {.ticket = 1});
  admission.pacer()(1, true);
  ask(admission, "second", {.ticket = 2});
  admission.pacer()(1, false);
  admission.pacer()(2, true);
  ask(admission, "third", {.ticket = 3});
  EXPECT_THAT(given_, ElementsAre("first", "second"));

  give_back("first");

  EXPECT_THAT(given_, ElementsAre("first", "second", "third"));
}

TEST_F(PaceTest, LetsADelGoBesideWhoeverWorks) {
  Admission admission = paced();
  ask(admission, "first", {.ticket = 1});
  ask(admission, "second", {.ticket = 2});

  ask(admission, "DEL", {.ticket = 3, .is_del = true});

  EXPECT_THAT(given_, ElementsAre("first", "DEL"));
}

TEST_F(PaceTest, HoldsNobodyUpForOneWhoTakesLong) {
  Admission admission = paced(std::chrono::milliseconds(1));
  ask(admission, "long", {.ticket = 1});
  ask(admission, "next", {.ticket = 2});

  loop_.restart();
  while (given_.size() < 2) loop_.run_one();

  EXPECT_THAT(given_, ElementsAre("long", "next"));
}

TEST_F(PaceTest, MayBeToldOfRequestsWhenItIsGone) {
  auto admission = std::make_unique<Admission>(paced());
  ask(*admission, "first", {.ticket = 1});
  const auto pacer = admission->pacer();
  admission.reset();

  pacer(1, true);
  pacer(1, false);
  give_back("first");

  EXPECT_THAT(given_, ElementsAre("first"));
}

TEST(DefaultPace, LeavesTheDaemonOneRequestAtATimeOnSmallMachines) {
  EXPECT_EQ(default_pace(2).most, 1u);
  EXPECT_EQ(default_pace(8).most, 2u);
}

TEST(DefaultMaxDelegates, FollowsTheMemoryLimit) {
  constexpr std::uint64_t kMiB = 1u << 20;
  EXPECT_EQ(default_max_delegates(10 * kMiB, 8), 2u);
  EXPECT_EQ(default_max_delegates(50 * kMiB, 8), 2u);
  EXPECT_EQ(default_max_delegates(16 * kMiB + 320 * kMiB, 8), 10u);
  EXPECT_EQ(default_max_delegates(64ull << 30, 8), 64u);
}

TEST(DefaultMaxDelegates, FollowsTheCoresWithoutALimit) {
  EXPECT_EQ(default_max_delegates(std::nullopt, 1), 8u);
  EXPECT_EQ(default_max_delegates(std::nullopt, 4), 16u);
  EXPECT_EQ(default_max_delegates(std::nullopt, 128), 64u);
}

TEST(KeptForDel, IsAnEighthAndAtLeastOne) {
  EXPECT_EQ(kept_for_del(2), 1u);
  EXPECT_EQ(kept_for_del(16), 2u);
  EXPECT_EQ(kept_for_del(64), 8u);
}

}  // namespace
}  // namespace mnet::daemon
