#include "sys/file_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::sys {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST(Inotify, NamesWhatHappenedInADirectory) {
  const TestDir dir;
  auto inotify = Inotify::make();
  ASSERT_TRUE(inotify.has_value());
  auto watch = inotify->watch(dir.path(), IN_MOVED_TO | IN_DELETE);
  ASSERT_TRUE(watch.has_value());

  ASSERT_TRUE(replace_file(dir / "a", "x", 0600).has_value());
  ASSERT_TRUE(remove_file(dir / "a").has_value());

  auto seen = inotify->take();
  ASSERT_TRUE(seen.has_value());
  ASSERT_THAT(seen->events, SizeIs(2));
  EXPECT_EQ(seen->events[0].watch, *watch);
  EXPECT_EQ(seen->events[0].name, "a");
  EXPECT_EQ(seen->events[0].mask, unsigned{IN_MOVED_TO});
  EXPECT_EQ(seen->events[1].mask, unsigned{IN_DELETE});
  EXPECT_FALSE(seen->overflow);
  EXPECT_THAT(inotify->take()->events, IsEmpty());
}

TEST(Inotify, TellsThatAWatchIsGone) {
  const TestDir dir;
  const std::string file = dir.write("a", "");
  auto inotify = Inotify::make();
  ASSERT_TRUE(inotify->watch(file, IN_DELETE_SELF).has_value());

  ASSERT_TRUE(remove_file(file).has_value());

  auto seen = inotify->take();
  ASSERT_FALSE(seen->events.empty());
  EXPECT_EQ(seen->events.back().mask, unsigned{IN_IGNORED});
}

TEST(Inotify, FailsForAPathThatDoesNotExist) {
  auto inotify = Inotify::make();

  EXPECT_EQ(inotify->watch("/none", IN_CREATE).error().code(), Errc::kNotFound);
}

TEST(Inotify, ReportsAnOverflow) {
  const TestDir dir;
  auto limit = read_file("/proc/sys/fs/inotify/max_queued_events");
  ASSERT_TRUE(limit.has_value());
  const int files = std::stoi(*limit) + 10;
  if (files > 100'000) GTEST_SKIP() << "the kernel queues " << files << " events here";
  auto inotify = Inotify::make();
  ASSERT_TRUE(inotify->watch(dir.path(), IN_CREATE).has_value());
  // Links are the cheapest thing to create.
  for (int i = 0; i < files; ++i) {
    std::filesystem::create_symlink("x", dir / cat("link", i));
  }

  auto seen = inotify->take();

  ASSERT_TRUE(seen.has_value());
  EXPECT_TRUE(seen->overflow);
}

}  // namespace
}  // namespace mnet::sys
