#include "logfile/backups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/test_clock.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::logfile {
namespace {

using std::chrono::days;
using std::chrono::milliseconds;
using sys::TestDir;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

const Time kNow = TestClock().now();

std::vector<std::string> names_in(const TestDir& dir) {
  std::vector<std::string> names;
  auto entries = sys::list_directory(dir.path()).value();
  std::ranges::transform(entries, std::back_inserter(names), &sys::Entry::name);
  return names;
}

TEST(BackupNames, CarryUtcTimeBetweenBaseAndExtension) {
  EXPECT_EQ(BackupNames("/var/log/multus.log").name_at(kNow), "multus-2026-08-20T15-39-05.123.log");
  EXPECT_EQ(BackupNames("/var/log/multus").name_at(kNow), "multus-2026-08-20T15-39-05.123");
  EXPECT_EQ(BackupNames("/var/log.d/a.b.c").name_at(kNow), "a.b-2026-08-20T15-39-05.123.c");
  EXPECT_EQ(BackupNames("/var/log.d/a").directory(), "/var/log.d");
  EXPECT_EQ(BackupNames("a.log").directory(), ".");
}

TEST(BackupNames, TellTheirTime) {
  const BackupNames names("/var/log/multus.log");

  EXPECT_EQ(names.time_of("multus-2026-08-20T15-39-05.123.log"), kNow);
  EXPECT_EQ(names.time_of("multus-2026-08-20T15-39-05.123.log.gz"), kNow);
  EXPECT_EQ(BackupNames("/x/multus").time_of("multus-2026-08-20T15-39-05.123.gz"), kNow);
}

TEST(BackupNames, AreNotThoseOfOtherFiles) {
  const BackupNames names("/var/log/multus.log");

  for (const std::string name :
       {"multus.log", "multus-daemon-2026-08-20T15-39-05.123.log", "multus-.log", "multus-",
        "other-2026-08-20T15-39-05.123.log", "multus-2026-08-20T15-39-05.123.txt",
        "multus-2026-08-20T15-39-05.1234.log", "multus-2026-08-20T15:39:05.123.log",
        "multus-2026-13-20T15-39-05.123.log", "multus-2026-02-30T15-39-05.123.log",
        "multus-2026-08-20T24-39-05.123.log", "multus-2026-08-20T15-60-05.123.log",
        "multus-2026-08-20T15-39-05.123.log.gz.gz"}) {
    EXPECT_EQ(names.time_of(name), std::nullopt) << name;
  }
}

TEST(BackupNames, TakeALaterMillisecondWhenOneIsTaken) {
  const TestDir dir;
  const BackupNames names(dir / "a.log");
  dir.write("a-2026-08-20T15-39-05.123.log", "");
  dir.write("a-2026-08-20T15-39-05.124.log.gz", "");

  EXPECT_EQ(names.free_path(kNow), dir / "a-2026-08-20T15-39-05.125.log");
}

class Tidy : public testing::Test {
 protected:
  void make_backup(Time time, const std::string& bytes = "x") {
    dir.write(names.name_at(time), bytes);
  }

  const TestDir dir;
  const BackupNames names{dir / "a.log"};
};

TEST_F(Tidy, KeepsTheNewest) {
  for (int age = 0; age < 5; ++age) make_backup(kNow - milliseconds(age));
  dir.write("a.log", "current");

  ASSERT_TRUE(tidy(names, {.max_backups = 2, .max_age = {}, .compress = false}, kNow).has_value());

  EXPECT_THAT(names_in(dir), UnorderedElementsAre("a.log", names.name_at(kNow),
                                                  names.name_at(kNow - milliseconds(1))));
}

TEST_F(Tidy, RemovesWhatIsTooOldByTheTimeInItsName) {
  make_backup(kNow - days(5));
  make_backup(kNow - days(5) - milliseconds(1));

  ASSERT_TRUE(
      tidy(names, {.max_backups = 0, .max_age = days(5), .compress = false}, kNow).has_value());

  EXPECT_THAT(names_in(dir), ElementsAre(names.name_at(kNow - days(5))));
}

TEST_F(Tidy, KeepsAllWithoutLimits) {
  for (int age = 0; age < 20; ++age) make_backup(kNow - days(100 * age));

  ASSERT_TRUE(tidy(names, {.max_backups = 0, .max_age = {}, .compress = false}, kNow).has_value());

  EXPECT_EQ(names_in(dir).size(), 20u);
}

TEST_F(Tidy, CountsThePlainAndTheCompressedFileOfOneMomentAsOne) {
  make_backup(kNow);
  dir.write(names.name_at(kNow) + ".gz", "half of it");
  make_backup(kNow - milliseconds(1));

  ASSERT_TRUE(tidy(names, {.max_backups = 2, .max_age = {}, .compress = true}, kNow).has_value());

  EXPECT_THAT(names_in(dir), UnorderedElementsAre(names.name_at(kNow) + ".gz",
                                                  names.name_at(kNow - milliseconds(1)) + ".gz"));
}

TEST_F(Tidy, TakesOnlyFilesForBackups) {
  std::filesystem::create_directory(dir / names.name_at(kNow));
  make_backup(kNow - milliseconds(1));

  ASSERT_TRUE(tidy(names, {.max_backups = 1, .max_age = {}, .compress = false}, kNow).has_value());

  EXPECT_EQ(names_in(dir).size(), 2u);
}

TEST_F(Tidy, HasNothingToDoInADirectoryThatIsNotThere) {
  EXPECT_TRUE(tidy(BackupNames(dir / "none/a.log"), {}, kNow).has_value());
}

TEST_F(Tidy, GoesOnAfterABackupThatCannotBeCompressed) {
  make_backup(kNow);
  std::filesystem::create_directory(dir / (names.name_at(kNow) + ".gz"));  // in the way
  make_backup(kNow - milliseconds(1));

  EXPECT_FALSE(tidy(names, {}, kNow).has_value());

  EXPECT_THAT(names_in(dir), UnorderedElementsAre(names.name_at(kNow), names.name_at(kNow) + ".gz",
                                                  names.name_at(kNow - milliseconds(1)) + ".gz"));
}

}  // namespace
}  // namespace mnet::logfile
