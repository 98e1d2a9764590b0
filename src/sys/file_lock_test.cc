#include "sys/file_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "sys/test_dir.h"

namespace mnet::sys {
namespace {

TEST(FileLock, LeavesNoFileBehind) {
  const TestDir dir;
  const std::string path = dir / "lock";

  auto lock = FileLock::take_file(path);
  ASSERT_TRUE(lock.has_value()) << lock.error().text();
  EXPECT_TRUE(std::filesystem::exists(path));
  lock->release();

  EXPECT_FALSE(std::filesystem::exists(path));
}

// Every holder removes the file while others wait for it.
TEST(FileLock, HasOneHolderAtATimeThoughTheFileComesAndGoes) {
  const TestDir dir;
  const std::string path = dir / "lock";
  std::atomic<int> inside = 0;
  std::atomic<int> clashes = 0;

  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const auto lock = FileLock::take_file(path);
        if (!lock || ++inside != 1) ++clashes;
        std::this_thread::yield();
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(clashes, 0);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(FileLock, IsFreeWhenItsHolderWasKilled) {
  const TestDir dir;
  const std::string path = dir / "lock";
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = FileLock::take_file(path);
    ::_exit(lock ? 0 : 1);  // without giving it back
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_TRUE(std::filesystem::exists(path));

  EXPECT_TRUE(FileLock::take_file(path).has_value());
}

TEST(FileLock, SharesADirectoryButNotWithOneWhoWantsItAlone) {
  const TestDir dir;
  auto one = FileLock::take_directory(dir.path(), FileLock::Kind::kShared);
  auto two = FileLock::take_directory(dir.path(), FileLock::Kind::kShared);
  ASSERT_TRUE(one.has_value() && two.has_value());
  std::atomic<bool> has = false;

  std::thread alone([&] {
    const auto lock = FileLock::take_directory(dir.path(), FileLock::Kind::kExclusive);
    has = lock.has_value();
  });
  one->release();
  EXPECT_FALSE(has);
  two->release();
  alone.join();

  EXPECT_TRUE(has);
}

TEST(FileLock, SaysWhatCannotBeLocked) {
  const TestDir dir;

  EXPECT_EQ(FileLock::take_file(dir / "none/lock").error().code(), Errc::kNotFound);
  EXPECT_EQ(FileLock::take_directory(dir / "none", FileLock::Kind::kShared).error().code(),
            Errc::kNotFound);
}

TEST(FileLock, TellsThatItsLastHolderWasKilled) {
  const TestDir dir;
  const std::string path = dir / "lock";
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = FileLock::try_file(path);
    ::_exit(lock && *lock && !(*lock)->was_left() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);

  auto lock = FileLock::try_file(path);

  ASSERT_TRUE(lock && *lock);
  EXPECT_TRUE((*lock)->was_left());
  (*lock)->release();
  EXPECT_FALSE(FileLock::try_file(path).value()->was_left());
}

TEST(Presence, IsSeenByOthersUntilItGoes) {
  const TestDir dir;
  const auto first = Presence::make(dir.path());
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_TRUE(first->is_alone().value());
  {
    const auto second = Presence::make(dir.path());
    ASSERT_TRUE(second);
    EXPECT_FALSE(first->is_alone().value());
    EXPECT_FALSE(second->is_alone().value());
  }
  EXPECT_TRUE(first->is_alone().value());
}

}  // namespace
}  // namespace mnet::sys
