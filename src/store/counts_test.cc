#include <gtest/gtest.h>

#include "base/text.h"
#include "store/store.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::store {
namespace {

TEST(Counts, TellsFilesOfEachKindApart) {
  const sys::TestDir dir;
  dir.write("c1", "[]");
  dir.write("results/net-c1-eth0", "{}");
  dir.write("results/net-c1-net1", "{}");
  dir.write("_attachments/c1.json", "{}");
  dir.write("pending-del/bad/c2-eth0.json", "{");

  const auto counts = count_files(dir.path());

  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ(counts->scratch, 1u);
  EXPECT_EQ(counts->results, 2u);
  EXPECT_EQ(counts->attachments, 1u);
  EXPECT_EQ(counts->bad_pending_dels, 1u);
}

TEST(Counts, LeavesOutWhatIsStillBeingWritten) {
  const sys::TestDir dir;
  dir.write(cat(sys::kTemporaryPrefix, "1"), "[");
  dir.write(cat("results/", sys::kTemporaryPrefix, "2"), "{");

  const auto counts = count_files(dir.path());

  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ(counts->scratch, 0u);
  EXPECT_EQ(counts->results, 0u);
}

TEST(Counts, FindsNothingWhereThereIsNoDirectory) {
  const sys::TestDir dir;

  const auto counts = count_files(cat(dir.path(), "/none"));

  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ(counts->scratch + counts->results + counts->attachments, 0u);
}

}  // namespace
}  // namespace mnet::store
