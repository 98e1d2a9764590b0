#include "admission/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aio/group.h"
#include "aio/task.h"
#include "base/result.h"
#include "base/text.h"
#include "chain/caller.h"
#include "chain/slots.h"

namespace mnet::admission {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// Takes turns at the slots and notes in which order they are given.
class AdmissionTest : public testing::Test {
 protected:
  void ask(Admission& admission, std::string name, chain::SlotRequest turn) {
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
  std::vector<std::pair<std::string, chain::Slot>> held_;

 private:
  aio::Task<void> take(Admission* admission, std::string name, chain::SlotRequest turn) {
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
  std::vector<chain::Slot> early;
  while (auto slot = admission.acquire_early()) early.push_back(*std::move(slot));

  EXPECT_EQ(early.size(), 3u);
  for (std::uint64_t i = 0; i < 5; ++i) ask(admission, cat(i), {.ticket = i, .ns = cat("ns", i)});
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
  Admission admission(3);
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
  Admission admission(3);
  auto caller = std::make_shared<chain::Caller>();
  caller->leave();
  auto early = admission.acquire_early();
  ASSERT_TRUE(early);

  ask(admission, "early", {.ticket = 1, .caller = caller, .held = std::move(early)});

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
  for (std::uint64_t i = 1; i <= 3; ++i) {
    ask(admission, cat("add ", i), {.ticket = i, .ns = cat("ns", i)});
  }
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

// A DEL of a large plugin, beside a flood of ADDs of small ones.
TEST_F(AdmissionTest, WhatGetsFreeAddsUpForAnOlderDelThatNeedsSeveralSlots) {
  Admission admission(8, 1);
  for (std::uint64_t i = 0; i < 7; ++i) ask(admission, cat("add", i), {.ticket = i, .ns = cat(i)});
  given_.clear();

  ask(admission, "del", {.ticket = 10, .ns = "d", .is_del = true, .slots = 3});
  ask(admission, "late", {.ticket = 11, .ns = "z"});
  give_back("add0");
  give_back("add1");

  EXPECT_THAT(given_, ElementsAre("del"));
  give_back("add2");
  EXPECT_THAT(given_, ElementsAre("del", "late"));
}

TEST_F(AdmissionTest, NeverGivesMoreSlotsThanThereAreToRequestsOfAnySize) {
  Admission admission(8, 1);

  for (std::uint64_t i = 0; i < 20; ++i) {
    ask(admission, cat(i), {.ticket = i, .ns = cat(i), .slots = 1 + i % 3});
  }
  while (!held_.empty()) {
    EXPECT_LE(admission.running(), 8u);
    give_back(held_.front().first);
  }

  EXPECT_EQ(given_.size(), 20u);
  EXPECT_LE(admission.most(), 8u);
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

// Requests of several namespaces.
class FairnessTest : public AdmissionTest {
 protected:
  // Named `<ns> <number>`, each of its own container unless one is given.
  void flood(Admission& admission, const std::string& ns, int count, bool is_del = false,
             const std::string& container_id = "") {
    for (int i = 1; i <= count; ++i) {
      const std::string name = cat(ns, " ", i);
      ask(admission, name,
          {.ticket = ++ticket_,
           .ns = ns,
           .container_id = container_id.empty() ? name : container_id,
           .is_del = is_del});
    }
  }
  std::size_t held(const std::string& prefix) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        held_, [&](const auto& entry) { return entry.first.starts_with(prefix); }));
  }
  // Returns everything that was given, in the order in which it was given.
  void drain() {
    while (!held_.empty()) give_back(std::string(held_.front().first));
  }

  std::uint64_t ticket_ = 0;
};

TEST_F(FairnessTest, ANamespaceThatHoldsSlotsLeavesOneToThoseThatHoldNone) {
  Admission admission(8, 1);
  flood(admission, "greedy", 200);
  EXPECT_EQ(held("greedy"), 6u);

  flood(admission, "second", 2);
  EXPECT_EQ(held("second"), 1u);

  // No namespace holds less than the third: it is next.
  flood(admission, "third", 1);
  EXPECT_EQ(held("third"), 0u);
  give_back("greedy 1");
  EXPECT_EQ(held("third"), 1u);
  EXPECT_EQ(held("greedy"), 5u);
}

TEST_F(FairnessTest, DelsAreSharedInTheSameWay) {
  Admission admission(8, 1);
  flood(admission, "greedy", 200, true);
  EXPECT_EQ(held("greedy"), 6u);
  ask(admission, "its ADD", {.ticket = 300, .ns = "greedy", .container_id = "c"});
  EXPECT_EQ(held("its ADD"), 1u);

  flood(admission, "other", 2);

  EXPECT_EQ(held("other"), 1u);
}

TEST_F(FairnessTest, AddsOfANamespaceDoNotHoldUpItsDels) {
  Admission admission(8, 1);
  flood(admission, "greedy", 20);
  flood(admission, "other", 1);
  ask(admission, "DEL", {.ticket = 100, .ns = "greedy", .container_id = "c", .is_del = true});

  EXPECT_EQ(held("DEL"), 1u);
  EXPECT_EQ(admission.running(), 8u);
}

TEST_F(FairnessTest, ADelLeavesASlotToOthersIfNoneIsKeptForIt) {
  Admission admission(4);
  flood(admission, "greedy", 10);
  ask(admission, "DEL", {.ticket = 100, .ns = "greedy", .container_id = "c", .is_del = true});
  EXPECT_EQ(held("greedy"), 3u);
  EXPECT_EQ(held("DEL"), 0u);

  flood(admission, "other", 1);

  EXPECT_EQ(held("other"), 1u);
}

TEST_F(FairnessTest, NamespacesTakeTurnsAtASingleSlot) {
  Admission admission(2, 1);  // one for all, one for DELs
  flood(admission, "a", 4);
  flood(admission, "b", 2);
  flood(admission, "c", 1);

  drain();

  EXPECT_THAT(given_, ElementsAre("a 1", "b 1", "c 1", "a 2", "b 2", "a 3", "a 4"));
}

TEST_F(FairnessTest, NamespacesEndUpWithEqualShares) {
  Admission admission(8, 1);
  flood(admission, "a", 50);
  flood(admission, "b", 50);

  for (int i = 1; i <= 6; ++i) give_back(cat("a ", i));

  EXPECT_EQ(held("a"), 3u);
  EXPECT_EQ(held("b"), 3u);
}

TEST_F(FairnessTest, AContainerWithManyNetworksLetsTheOthersOfItsNamespacePass) {
  Admission admission(8, 1);
  flood(admission, "greedy", 200, false, "one container");
  ask(admission, "neighbour", {.ticket = 999, .ns = "greedy", .container_id = "other"});
  EXPECT_EQ(held("neighbour"), 0u);

  give_back("greedy 1");

  EXPECT_EQ(held("neighbour"), 1u);
}

TEST_F(FairnessTest, AtASingleSlotAContainerGoesByItsAgeForSixteenSlots) {
  Admission admission(1);
  flood(admission, "ns", 40, false, "one container");
  for (std::uint64_t i = 100; i < 103; ++i) {
    ask(admission, cat("neighbour ", i), {.ticket = i, .ns = "ns", .container_id = cat(i)});
  }

  drain();

  ASSERT_EQ(given_.size(), 43u);
  EXPECT_EQ(given_[15], "ns 16");
  EXPECT_EQ(given_[16], "neighbour 100");
  EXPECT_EQ(given_[18], "neighbour 102");
  EXPECT_EQ(given_[19], "ns 17");
}

TEST_F(FairnessTest, RequestsOfNoNamespaceShareAsOne) {
  Admission admission(8, 1);
  flood(admission, "", 20);
  EXPECT_EQ(admission.running(), 6u);

  flood(admission, "pods", 1);

  EXPECT_EQ(held("pods"), 1u);
}

// Its early slot does not count: the plugin in it waits for this one.
TEST_F(FairnessTest, TheFirstPluginOfAChainIsNotHeldUpByTheEarlySlotOfTheSecond) {
  Admission admission(4, 1);
  auto early = admission.acquire_early();
  ASSERT_TRUE(early);
  flood(admission, "other", 1);

  ask(admission, "first", {.ticket = 50, .ns = "ns", .container_id = "c"});
  EXPECT_EQ(held("first"), 1u);
  EXPECT_EQ(admission.running(), 3u);
  give_back("first");
  ask(admission, "second",
      {.ticket = 50, .ns = "ns", .container_id = "c", .held = std::move(early)});

  // Now it does.
  ask(admission, "another", {.ticket = 51, .ns = "ns", .container_id = "d"});
  EXPECT_EQ(held("another"), 0u);
  give_back("second");
  EXPECT_EQ(held("another"), 1u);
}

TEST_F(FairnessTest, ANamespaceAloneTakesNoSlotEarlyThatItMustLeave) {
  EXPECT_FALSE(Admission(3, 1).acquire_early());
  EXPECT_TRUE(Admission(4, 1).acquire_early());
}

// The others of its namespace would hold up the line for as long, one after the other.
TEST_F(FairnessTest, AfterAWaitInVainTheTurnOfItsNamespaceIsOver) {
  Admission admission(Shares{.slots = 4, .of_namespace = 2});
  ask(admission, "a", {.ticket = 1, .ns = "a", .slots = 2});
  ask(admission, "b", {.ticket = 2, .ns = "b"});
  ask(admission, "late",
      {.ticket = 3,
       .ns = "c",
       .slots = 2,
       .deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20)});
  ask(admission, "next of c", {.ticket = 4, .ns = "c", .slots = 2});
  ask(admission, "d", {.ticket = 5, .ns = "d"});
  EXPECT_THAT(given_, ElementsAre("a", "b"));

  loop_.restart();
  while (given_.size() < 4) loop_.run_one();

  EXPECT_THAT(given_, UnorderedElementsAre("a", "b", "refused late", "d"));
  EXPECT_EQ(admission.waiting(), 1u);
}

// Random requests of a few namespaces come and go; each test of the rules is written anew here.
class FairnessProperty : public FairnessTest, public testing::WithParamInterface<unsigned> {
 protected:
  struct Asked {
    std::string ns;
    bool is_del;
    bool is_given = false;
  };

  std::size_t pick(std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_);
  }

  void arrive(Admission& admission) {
    const std::string name = cat(asked_.size());
    asked_.push_back({.ns = cat("ns", pick(kNamespaces)), .is_del = pick(4) == 0});
    const Asked& one = asked_.back();
    ask(admission, name,
        {.ticket = asked_.size(),
         .ns = one.ns,
         .container_id = cat(pick(9)),
         .is_del = one.is_del});
  }

  using Kind = std::pair<std::string, bool>;  // of a namespace; all of it where DELs have no slots

  Kind kind(const Asked& one) const { return {one.ns, kept_ > 0 && one.is_del}; }
  std::map<Kind, std::size_t> weights() const {
    std::map<Kind, std::size_t> weights;
    for (const auto& entry : held_) ++weights[kind(asked_.at(std::stoul(entry.first)))];
    return weights;
  }

  // A namespace that holds none lets each of the others pass once at most.
  void look() {
    auto weights = this->weights();
    for (const auto& [kind, slots] : weights) overtaken_.erase(kind);
    for (; seen_ < given_.size(); ++seen_) {
      Asked& one = asked_.at(std::stoul(given_[seen_]));
      one.is_given = true;
      std::set<Kind> passed;
      for (const Asked& other : asked_) {
        const bool waits = !other.is_given && other.is_del == one.is_del && other.ns != one.ns;
        if (waits && weights[kind(other)] == 0) passed.insert(kind(other));
      }
      for (const Kind& each : passed) EXPECT_LT(++overtaken_[each], kNamespaces);
    }
  }

  void check(const Admission& admission) {
    const std::size_t open = slots_ > kept_ ? slots_ - kept_ : 1;
    const std::size_t left = left_to_others(open);
    const std::size_t running = held_.size();
    std::size_t others = 0;
    std::set<std::string> holders;
    for (const auto& entry : held_) {
      const Asked& one = asked_.at(std::stoul(entry.first));
      if (!one.is_del) ++others;
      holders.insert(one.ns);
    }
    EXPECT_EQ(admission.running(), running);
    EXPECT_LE(running, slots_);
    EXPECT_LE(others, open);
    if (holders.size() == 1 && left > 0) {
      EXPECT_LE(running + left, slots_);
      EXPECT_LE(others + left, open);
    }
    // No slot stays free that a waiting request may take.
    auto weights = this->weights();
    for (const Asked& one : asked_) {
      if (one.is_given) continue;
      std::size_t reserve = weights[kind(one)] > 0 ? left : 0;
      if (one.is_del && reserve > 0 && kept_ > 0) ++reserve;
      EXPECT_TRUE(running + reserve >= slots_ || (!one.is_del && others + reserve >= open));
    }
  }

  static constexpr std::size_t kNamespaces = 4;
  std::mt19937 random_{GetParam()};
  std::size_t slots_ = 1 + pick(12);
  std::size_t kept_ = pick(3) == 0 ? 0 : kept_for_del(slots_);
  std::vector<Asked> asked_;
  std::size_t seen_ = 0;
  std::map<Kind, std::size_t> overtaken_;
};

TEST_P(FairnessProperty, NobodyStarvesAndNoSlotIsWasted) {
  Admission admission(slots_, kept_);
  for (int step = 0; step < 250; ++step) {
    if (held_.empty() || pick(100) < 55) {
      arrive(admission);
    } else {
      give_back(std::string(held_.at(pick(held_.size())).first));
    }
    look();
    check(admission);
  }
  while (!held_.empty()) {
    give_back(std::string(held_.at(pick(held_.size())).first));
    look();
    check(admission);
  }

  EXPECT_EQ(admission.waiting(), 0u);
  EXPECT_EQ(given_.size(), asked_.size());
}

INSTANTIATE_TEST_SUITE_P(Seeds, FairnessProperty, testing::Range(1u, 21u));

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

TEST(LeftToOthers, IsAnEighthAndAtLeastOneIfThereAreTwo) {
  EXPECT_EQ(left_to_others(1), 0u);
  EXPECT_EQ(left_to_others(2), 1u);
  EXPECT_EQ(left_to_others(7), 1u);
  EXPECT_EQ(left_to_others(56), 7u);
}

TEST(KeptForDel, IsAnEighthAndAtLeastOne) {
  EXPECT_EQ(kept_for_del(2), 1u);
  EXPECT_EQ(kept_for_del(16), 2u);
  EXPECT_EQ(kept_for_del(64), 8u);
}

}  // namespace
}  // namespace mnet::admission
