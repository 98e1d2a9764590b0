#include "admission/delegate_memory.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "base/text.h"

namespace mnet::admission {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t kOwn = 20 * kMiB;

TEST(DelegateMemory, CountsOneSlotForWhatIsNotKnown) {
  const DelegateMemory memory(7);

  EXPECT_EQ(memory.slots_of("bridge"), 1u);
}

TEST(DelegateMemory, CountsWhatTheLargestOfATypeTookInWholeSlots) {
  DelegateMemory memory(7);

  EXPECT_TRUE(memory.note("sriov", 55 * kMiB, kOwn));
  EXPECT_FALSE(memory.note("sriov", 33 * kMiB, kOwn));
  EXPECT_EQ(memory.slots_of("sriov"), 2u);
  EXPECT_EQ(memory.slots_of("bridge"), 1u);

  EXPECT_TRUE(memory.note("sriov", 65 * kMiB, kOwn));
  EXPECT_EQ(memory.slots_of("sriov"), 3u);
}

TEST(DelegateMemory, NeverFallsBelowWhatEveryDelegateIsTakenFor) {
  DelegateMemory memory(7);

  EXPECT_FALSE(memory.note("bridge", 3 * kMiB, kMiB));

  EXPECT_EQ(memory.slots_of("bridge"), 1u);
}

// A child that is started in our memory shows our own peak if it needed less itself.
TEST(DelegateMemory, DoesNotTakeOurOwnPeakForADelegates) {
  DelegateMemory memory(7);

  EXPECT_FALSE(memory.note("bridge", 60 * kMiB, 60 * kMiB));

  EXPECT_EQ(memory.slots_of("bridge"), 1u);
}

TEST(DelegateMemory, LetsTheLargestDelegateRunAlone) {
  DelegateMemory memory(3);

  EXPECT_TRUE(memory.note("huge", 4096 * kMiB, kOwn));

  EXPECT_EQ(memory.slots_of("huge"), 3u);
}

TEST(DelegateMemory, CountsNothingWhereMemoryDoesNotMatter) {
  DelegateMemory memory(1);

  EXPECT_FALSE(memory.note("huge", 4096 * kMiB, kOwn));

  EXPECT_EQ(memory.slots_of("huge"), 1u);
}

TEST(DelegateMemory, RemembersABoundedNumberOfTypes) {
  DelegateMemory memory(7);
  for (std::size_t i = 0; i < DelegateMemory::kMostTypes; ++i) {
    EXPECT_TRUE(memory.note(cat("type", i), 55 * kMiB, kOwn));
  }

  EXPECT_FALSE(memory.note("one more", 55 * kMiB, kOwn));
  EXPECT_TRUE(memory.note("type0", 65 * kMiB, kOwn));
}

}  // namespace
}  // namespace mnet::admission
