// Pain 43: two daemons, one container.
#include "handover/container_locks.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "aio/group.h"
#include "aio/run.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "sys/file_lock.h"
#include "sys/test_dir.h"

namespace mnet::handover {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

// Two daemons: each lock is of its own open file, as it is between processes.
class ContainerLocksTest : public testing::Test {
 protected:
  ContainerLocks::EndOrphans searching() {
    return [this] { return search(); };
  }
  aio::Task<void> search() {
    ++searches_;
    co_return Result<void>();
  }
  std::shared_ptr<void> take(ContainerLocks& locks, const std::string& id = "c1") {
    return aio::run(loop_, locks.lock(id)).value();
  }
  // Yields what a waiting request got.
  std::shared_ptr<Result<std::shared_ptr<void>>> begin(aio::Task<std::shared_ptr<void>> locking) {
    auto into = std::make_shared<Result<std::shared_ptr<void>>>();
    group_.spawn("lock", waiting(std::move(locking), into));
    return into;
  }
  static aio::Task<void> waiting(aio::Task<std::shared_ptr<void>> locking,
                                 std::shared_ptr<Result<std::shared_ptr<void>>> into) {
    *into = co_await std::move(locking);
    co_return Result<void>();
  }
  void pass(std::chrono::milliseconds time) { ASSERT_TRUE(aio::run(loop_, aio::sleep_for(time))); }
  void finish() { ASSERT_TRUE(aio::run(loop_, group_.join())); }

  sys::TestDir dir_;
  std::string folder_ = dir_ / "locks";
  aio::asio::io_context loop_{1};
  aio::Group group_{loop_.get_executor(), Log()};
  int searches_ = 0;
  ContainerLocks old_{folder_, searching(), {.retry = 1ms, .gc = 20ms}};
  ContainerLocks new_{folder_, searching(), {.retry = 1ms, .gc = 20ms}};
};

TEST_F(ContainerLocksTest, MakeNoFileWhileADaemonIsAlone) {
  const auto held = take(old_);

  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(ContainerLocksTest, KeepTheNewDaemonFromWhatTheOldOneAlreadyWorksOn) {
  auto held = take(old_);
  ASSERT_TRUE(old_.share());
  ASSERT_TRUE(new_.share());
  const auto other = take(new_, "c2");

  const auto waits = begin(new_.lock("c1"));
  pass(5ms);
  EXPECT_FALSE(waits->has_value());
  held.reset();
  finish();

  EXPECT_TRUE(waits->has_value());
  EXPECT_EQ(searches_, 0);
}

TEST_F(ContainerLocksTest, KeepTheOldDaemonFromWhatTheNewOneWorksOn) {
  ASSERT_TRUE(old_.share());
  ASSERT_TRUE(new_.share());
  auto held = take(new_);

  const auto waits = begin(old_.lock("c1"));
  pass(5ms);
  EXPECT_FALSE(waits->has_value());
  held.reset();
  finish();

  EXPECT_TRUE(waits->has_value());
}

TEST_F(ContainerLocksTest, AreHeldAsLongAsOneOfADaemonsRequestsKeepsThem) {
  ASSERT_TRUE(old_.share());
  auto kept = old_.keep("c1");
  take(old_).reset();

  EXPECT_FALSE(sys::FileLock::try_file(folder_ + "/c1").value().has_value());
  kept.reset();
  EXPECT_TRUE(sys::FileLock::try_file(folder_ + "/c1").value().has_value());
}

TEST_F(ContainerLocksTest, EndTheDelegatesOfAKilledHolderBeforeOthersWorkOnItsContainer) {
  ASSERT_TRUE(new_.share());
  const pid_t killed = ::fork();
  if (killed == 0) {
    fs::create_directory(folder_);
    const auto lock = sys::FileLock::try_file(folder_ + "/c1");
    ::_exit(lock && *lock ? 0 : 1);
  }
  ASSERT_EQ(::waitpid(killed, nullptr, 0), killed);

  const auto held = take(new_);

  EXPECT_EQ(searches_, 1);
}

TEST_F(ContainerLocksTest, LetAGcWaitUntilNoOtherDaemonIsThere) {
  ASSERT_TRUE(new_.share());
  EXPECT_EQ(aio::run(loop_, new_.lock_all()).error().code(), Errc::kUnavailable);

  const auto waits = begin(new_.lock_all());
  pass(2ms);
  EXPECT_FALSE(waits->has_value());
  new_.unshare();
  finish();

  EXPECT_TRUE(waits->has_value());
}

TEST_F(ContainerLocksTest, AreNotSharedWhileAGcRuns) {
  auto gc = aio::run(loop_, old_.lock_all()).value();
  EXPECT_EQ(old_.share().error().code(), Errc::kUnavailable);

  gc.reset();
  EXPECT_TRUE(old_.share());
}

TEST_F(ContainerLocksTest, LeaveNothingWhenADaemonIsAloneAgain) {
  ASSERT_TRUE(new_.share());
  const auto held = take(new_);
  dir_.write("locks/c-of-a-killed-daemon", "");

  new_.unshare();

  EXPECT_FALSE(fs::exists(folder_));
  EXPECT_TRUE(aio::run(loop_, new_.lock("c1")).has_value());
}

TEST_F(ContainerLocksTest, AnErrorIsNotALock) {
  ASSERT_TRUE(new_.share());
  dir_.write("locks", "in the way");

  EXPECT_FALSE(aio::run(loop_, new_.lock("c1")).has_value());
}

}  // namespace
}  // namespace mnet::handover
