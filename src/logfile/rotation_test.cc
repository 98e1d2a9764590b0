#include "logfile/rotation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace mnet::logfile {
namespace {

using std::chrono::hours;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Rotation, HasDefaultsForWhatIsNotGiven) {
  std::vector<std::string> warnings;

  const Rotation rotation = rotation_of({}, warnings);

  EXPECT_EQ(rotation.max_bytes, 100u << 20);
  EXPECT_EQ(rotation.max_backups, 5u);
  EXPECT_EQ(rotation.max_age, hours(5 * 24));
  EXPECT_TRUE(rotation.compress);
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(Rotation, TakesWhatIsGiven) {
  std::vector<std::string> warnings;

  const Rotation rotation =
      rotation_of({.max_size = 7, .max_backups = 3, .max_age = 2, .compress = false}, warnings);

  EXPECT_EQ(rotation.max_bytes, 7u << 20);
  EXPECT_EQ(rotation.max_backups, 3u);
  EXPECT_EQ(rotation.max_age, hours(48));
  EXPECT_FALSE(rotation.compress);
}

TEST(Rotation, ZeroMeansDefaultSizeAllBackupsNoAge) {
  std::vector<std::string> warnings;

  const Rotation rotation =
      rotation_of({.max_size = 0, .max_backups = 0, .max_age = 0, .compress = {}}, warnings);

  EXPECT_EQ(rotation.max_bytes, 100u << 20);
  EXPECT_EQ(rotation.max_backups, 0u);
  EXPECT_EQ(rotation.max_age, hours(0));
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(Rotation, NegativeValuesBecomeDefaultsWithAWarningEach) {
  std::vector<std::string> warnings;

  const Rotation rotation =
      rotation_of({.max_size = -1, .max_backups = -2, .max_age = -3, .compress = {}}, warnings);

  EXPECT_EQ(rotation.max_bytes, 100u << 20);
  EXPECT_EQ(rotation.max_backups, 5u);
  EXPECT_EQ(rotation.max_age, hours(5 * 24));
  EXPECT_THAT(warnings, ElementsAre("logOptions: maxSize -1 is negative; using 100",
                                    "logOptions: maxBackups -2 is negative; using 5",
                                    "logOptions: maxAge -3 is negative; using 5"));
}

TEST(Rotation, HugeValuesDoNotOverflow) {
  constexpr auto kHuge = std::numeric_limits<std::int64_t>::max();
  std::vector<std::string> warnings;

  const Rotation rotation = rotation_of(
      {.max_size = kHuge, .max_backups = kHuge, .max_age = kHuge, .compress = {}}, warnings);

  EXPECT_GT(rotation.max_bytes, std::uint64_t{1} << 40);
  EXPECT_GT(rotation.max_backups, 1'000'000u);
  EXPECT_GT(rotation.max_age, hours(24 * 365));
}

}  // namespace
}  // namespace mnet::logfile
