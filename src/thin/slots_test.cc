#include "thin/slots.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "aio/group.h"
#include "aio/task.h"
#include "base/log.h"
#include "base/result.h"
#include "chain/caller.h"
#include "chain/slots.h"

namespace mnet::thin {
namespace {

class FewSlotsTest : public testing::Test {
 protected:
  void ask(chain::SlotRequest request = {}) {
    group_.spawn("delegate", take(std::move(request)));
    settle();
  }
  void settle() {
    loop_.restart();
    loop_.poll();
  }

  aio::asio::io_context loop_{1};
  FewSlots slots_;
  std::vector<chain::Slot> held_;
  std::size_t refused_ = 0;
  aio::Group group_{loop_.get_executor(), Log()};

 private:
  aio::Task<void> take(chain::SlotRequest request) {
    auto slot = co_await slots_.acquire(std::move(request));
    if (slot) {
      held_.push_back(*std::move(slot));
    } else {
      ++refused_;
    }
    co_return Result<void>();
  }
};

TEST_F(FewSlotsTest, AreEightAndThenWaitedFor) {
  for (int i = 0; i < 20; ++i) ask();
  EXPECT_EQ(held_.size(), FewSlots::kMost);

  for (std::size_t given = FewSlots::kMost + 1; given <= 20; ++given) {
    held_.front().release();
    held_.erase(held_.begin());
    settle();
    EXPECT_EQ(held_.size(), FewSlots::kMost);
  }
}

// Where one network has failed, no plugin of another starts.
TEST_F(FewSlotsTest, AreNotGivenToWhoHasLeft) {
  const auto caller = std::make_shared<chain::Caller>();
  for (int i = 0; i < 9; ++i) ask({.ticket = 1, .caller = caller});
  caller->leave();

  held_.clear();
  settle();

  EXPECT_EQ(refused_, 1u);
  EXPECT_TRUE(held_.empty());
}

TEST_F(FewSlotsTest, AreForPluginsThatAreStartedEarlyOnlyWhileHalfOfThemAreFree) {
  std::vector<chain::Slot> early;
  while (auto slot = slots_.acquire_early()) early.push_back(*std::move(slot));
  EXPECT_EQ(early.size(), FewSlots::kMost / 2);

  for (int i = 0; i < 20; ++i) ask();
  EXPECT_EQ(held_.size(), FewSlots::kMost / 2);
  ask({.ticket = 1, .held = std::move(early.front())});
  EXPECT_EQ(held_.size(), FewSlots::kMost / 2 + 1);
}

}  // namespace
}  // namespace mnet::thin
