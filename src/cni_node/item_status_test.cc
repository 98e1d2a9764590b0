#include "cni_node/item_status.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "cni_node/work.h"

namespace mnet::cni_node {
namespace {

using namespace std::chrono_literals;
using Clock = ItemStatus::Clock;
const Clock::time_point kNow = Clock::now();

TEST(ItemStatus, WaitsLongerAfterEachFailureUntilItsInputChanges) {
  ItemStatus item;

  EXPECT_TRUE(item.failed("why", "input", kNow));
  EXPECT_TRUE(item.must_wait("input", kNow + 700ms));
  EXPECT_FALSE(item.must_wait("input", kNow + 1300ms));
  EXPECT_FALSE(item.must_wait("other", kNow));
  EXPECT_FALSE(item.failed("why", "input", kNow));
  EXPECT_TRUE(item.must_wait("input", kNow + 1500ms));
  for (int i = 0; i < 20; ++i) item.failed("why", "input", kNow);
  EXPECT_TRUE(item.must_wait("input", kNow + 4min - 1s));
  EXPECT_FALSE(item.must_wait("input", kNow + 6min + 1s));
  item.failed("why", "other", kNow);
  EXPECT_FALSE(item.must_wait("other", kNow + 1300ms));
}

// 04, 4: row 108.
TEST(ItemStatus, IsRestoredFiveTimesInTenMinutes) {
  ItemStatus item;

  for (int i = 0; i < 5; ++i) EXPECT_TRUE(item.may_restore(kNow + std::chrono::seconds(i)));
  EXPECT_FALSE(item.may_restore(kNow + 9min));
  EXPECT_TRUE(item.may_restore(kNow + 10min));
  EXPECT_FALSE(item.may_restore(kNow + 10min));
}

TEST(ItemBoard, TellsInWordsHowAllAreDoing) {
  ItemBoard board;
  board.at(ItemKind::kConfig, "05-m.conf").waits("pointer file x not found", {});
  board.at(ItemKind::kPlugin, "macvlan").is_well("1");
  board.at(ItemKind::kManifest, "gone").is_well("1");
  board.keep_only(ItemKind::kManifest, {});

  EXPECT_EQ(board.text(),
            "plugin    macvlan    installed\n"
            "config    05-m.conf  pending: pointer file x not found\n");
  EXPECT_TRUE(board.all_well(ItemKind::kPlugin, {"macvlan"}));
  EXPECT_FALSE(board.all_well(ItemKind::kConfig, {"05-m.conf"}));
  EXPECT_FALSE(board.all_well(ItemKind::kPlugin, {"other"}));
  EXPECT_EQ(board.next_try(), std::nullopt);
}

}  // namespace
}  // namespace mnet::cni_node
