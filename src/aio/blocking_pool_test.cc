#include "aio/blocking_pool.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <exception>
#include <functional>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/readable.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/try.h"
#include "sys/fd.h"
#include "sys/netns.h"

namespace mnet::aio {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Task<std::thread::id> thread_of(BlockingPool* pool) {
  co_return co_await pool->run(
      []() -> Result<std::thread::id> { return std::this_thread::get_id(); });
}

TEST(BlockingPool, CallsOnAnotherThreadAndComesBack) {
  asio::io_context loop;
  BlockingPool pool(2);

  auto id = run(loop, thread_of(&pool));

  ASSERT_TRUE(id.has_value());
  EXPECT_NE(*id, std::this_thread::get_id());
  EXPECT_EQ(pool.threads(), 1u);
}

Task<int> call(BlockingPool* pool, std::move_only_function<Result<int>()> what) {
  co_return co_await pool->run(std::move(what));
}

TEST(BlockingPool, HandsErrorsBackAndTurnsExceptionsIntoBugs) {
  asio::io_context loop;
  BlockingPool pool(1);

  auto failed = run(loop, call(&pool, [] { return Error(Errc::kDenied, "no"); }));
  auto thrown = run(loop, call(&pool, []() -> Result<int> { throw std::runtime_error("boom"); }));

  EXPECT_EQ(failed.error().code(), Errc::kDenied);
  EXPECT_EQ(thrown.error().code(), Errc::kBug);
  EXPECT_THAT(thrown.error().text(), HasSubstr("boom"));
}

TEST(BlockingPool, TakesCallsThatOwnWhatCannotBeCopied) {
  asio::io_context loop;
  BlockingPool pool(1);

  auto result = run(
      loop, call(&pool, [owned = std::make_unique<int>(5)]() -> Result<int> { return *owned; }));

  EXPECT_EQ(result.value(), 5);
}

Task<int> sum_of_all(BlockingPool* pool, int count) {
  std::vector<Task<int>> tasks;
  for (int i = 1; i <= count; ++i) {
    tasks.push_back(call(pool, [i]() -> Result<int> { return i; }));
  }
  auto results = co_await all(std::move(tasks));
  int sum = 0;
  for (const auto& result : results) sum += result.value();
  co_return sum;
}

TEST(BlockingPool, RunsManyCallsOnFewThreads) {
  asio::io_context loop;
  BlockingPool pool(3);

  EXPECT_EQ(run(loop, sum_of_all(&pool, 1000)).value(), 500500);
  EXPECT_LE(pool.threads(), 3u);
}

Task<std::vector<Result<int>>> all_of(std::vector<Task<int>> tasks) {
  co_return co_await all(std::move(tasks));
}

Task<int> meet(BlockingPool* pool, std::shared_ptr<std::latch> latch) {
  std::vector<Task<int>> tasks;
  for (int i = 0; i < 2; ++i) {
    tasks.push_back(call(pool, [latch]() -> Result<int> {
      latch->arrive_and_wait();
      return 1;
    }));
  }
  auto results = co_await all(std::move(tasks));
  co_return results[0].value() + results[1].value();
}

TEST(BlockingPool, RunsCallsSideBySide) {
  asio::io_context loop;
  BlockingPool pool(2);

  EXPECT_EQ(run(loop, meet(&pool, std::make_shared<std::latch>(2))).value(), 2);
}

std::vector<BlockingPool::Part> parts_of(int count, std::function<void()> each) {
  std::vector<BlockingPool::Part> parts;
  for (int i = 0; i < count; ++i) parts.emplace_back(each);
  return parts;
}

TEST(BlockingPool, MakesThePartsOfACallSideBySide) {
  asio::io_context loop;
  BlockingPool pool(2);
  std::latch both(2);

  auto ended = run(loop, call(&pool, [&]() -> Result<int> {
                     pool.side_by_side(parts_of(2, [&both] { both.arrive_and_wait(); }));
                     return 1;
                   }));

  EXPECT_TRUE(ended.has_value());
}

TEST(BlockingPool, MakesThePartsOfManyCallsOnFewThreads) {
  asio::io_context loop;
  BlockingPool pool(2);
  std::atomic<int> made = 0;
  std::vector<Task<int>> tasks;
  for (int i = 0; i < 100; ++i) {
    tasks.push_back(call(&pool, [&]() -> Result<int> {
      const int before = made;
      pool.side_by_side(parts_of(5, [&made] { ++made; }));
      return made - before;
    }));
  }

  const auto ended = run(loop, all_of(std::move(tasks)));

  EXPECT_EQ(made, 500);
  for (const auto& own : ended.value()) EXPECT_GE(own.value(), 5);
}

TEST(BlockingPool, BlocksSignalsInItsThreads) {
  asio::io_context loop;
  BlockingPool pool(1);

  auto blocked = run(loop, call(&pool, []() -> Result<int> {
                       sigset_t mask;
                       ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
                       return ::sigismember(&mask, SIGTERM);
                     }));

  EXPECT_EQ(blocked.value(), 1);
}

TEST(BlockingPool, RetiresAThreadThatCannotComeHome) {
  asio::io_context loop;
  BlockingPool pool(1);
  const auto first = run(loop, thread_of(&pool)).value();

  auto strayed = run(loop, call(&pool, []() -> Result<int> {
                       sys::mark_this_thread_astray();
                       return 1;
                     }));
  const auto second = run(loop, thread_of(&pool)).value();

  EXPECT_TRUE(strayed.has_value());
  EXPECT_NE(first, second);
}

TEST(BlockingPool, GoesOnWithWhatIsQueuedBehindAThreadThatStrays) {
  asio::io_context loop;
  BlockingPool pool(1);
  std::vector<Task<int>> tasks;
  for (int i = 0; i < 20; ++i) {
    tasks.push_back(call(&pool, [i]() -> Result<int> {
      if (i % 3 == 0) sys::mark_this_thread_astray();
      return i;
    }));
  }

  auto results = run(loop, [](std::vector<Task<int>> mine) -> Task<int> {
    auto ended = co_await all(std::move(mine));
    co_return static_cast<int>(ended.size());
  }(std::move(tasks)));

  EXPECT_EQ(results.value(), 20);
}

TEST(BlockingPool, StaysInTheHostNamespaceAfterACallElsewhere) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: makes a network namespace";
  asio::io_context loop;
  BlockingPool pool(1);
  auto visit = [&pool, &loop] {
    return run(loop, call(&pool, []() -> Result<int> {
                 Result<sys::NetNs> fresh;
                 std::thread([&fresh] {
                   if (::unshare(CLONE_NEWNET) == 0) fresh = sys::NetNs::own();
                 }).join();
                 if (!fresh) return std::move(fresh).error();
                 MNET_TRY([[maybe_unused]] const auto& scope, sys::ScopedNetNs::enter(*fresh));
                 return sys::NetNs::own()->id() == fresh->id() ? 1 : 0;
               }));
  };

  EXPECT_EQ(visit().value(), 1);

  auto home = run(loop, call(&pool, [own = sys::NetNs::own()->id()]() -> Result<int> {
                    return sys::NetNs::own()->id() == own ? 1 : 0;
                  }));
  EXPECT_EQ(home.value(), 1);
}

TEST(BlockingPool, WaitsAtItsEndForTheCallThatRuns) {
  asio::io_context loop;
  std::atomic<bool> ended = false;
  std::latch started(1);
  {
    BlockingPool pool(1);
    asio::co_spawn(loop,
                   call(&pool,
                        [&]() -> Result<int> {
                          started.count_down();
                          std::this_thread::yield();
                          ended = true;
                          return 1;
                        }),
                   [](std::exception_ptr, const Result<int>&) {});
    loop.poll();
    started.wait();
  }

  EXPECT_TRUE(ended);
  loop.restart();
  loop.run();
}

Task<void> wait_readable(int fd) {
  const auto executor = co_await asio::this_coro::executor;
  Readable readable(executor, fd);
  co_return co_await readable.wait();
}

TEST(Readable, EndsWhenTheDescriptorCanBeReadAndLeavesItOpen) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const sys::UniqueFd reader(ends[0]);
  const sys::UniqueFd writer(ends[1]);
  EXPECT_EQ(run(with_deadline(wait_readable(reader.get()), std::chrono::steady_clock::now()))
                .error()
                .code(),
            Errc::kTimeout);
  ASSERT_EQ(::write(writer.get(), "x", 1), 1);

  EXPECT_TRUE(run(wait_readable(reader.get())).has_value());

  char byte = 0;
  EXPECT_EQ(::read(reader.get(), &byte, 1), 1);
}

}  // namespace
}  // namespace mnet::aio
