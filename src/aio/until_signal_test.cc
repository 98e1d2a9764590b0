#include "aio/until_signal.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <csignal>
#include <utility>

#include "aio/sleep.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"

namespace mnet::aio {
namespace {

Task<void> succeed() { co_return Result<void>(); }
Task<void> fail(Errc code) { co_return Error(code, "no"); }

Task<void> raise_and_wait(int signal, Result<void> end = Error(Errc::kCancelled, "cancelled")) {
  ::raise(signal);
  (void)co_await sleep_until(kNoDeadline);
  co_return end;
}

Result<void> run(Task<void> task) {
  asio::io_context loop(1);
  return run_until_signal(loop, std::move(task));
}

TEST(RunUntilSignal, YieldsWhatATaskYieldsThatEndsByItself) {
  EXPECT_TRUE(run(succeed()).has_value());
  EXPECT_EQ(run(fail(Errc::kIo)).error().code(), Errc::kIo);
  EXPECT_EQ(run(fail(Errc::kCancelled)).error().code(), Errc::kCancelled);
}

// The default action would end the test program; hence a child for each.
int status_of(void (*body)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(7);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(RunUntilSignal, ASignalIsACancelAndASuccess) {
  EXPECT_EQ(status_of([] { ::_exit(run(raise_and_wait(SIGTERM)).has_value() ? 0 : 3); }), 0);
  EXPECT_EQ(status_of([] { ::_exit(run(raise_and_wait(SIGINT)).has_value() ? 0 : 3); }), 0);
}

TEST(RunUntilSignal, AnEndThatFailsIsAFailure) {
  EXPECT_EQ(status_of([] {
              const auto ended = run(raise_and_wait(SIGTERM, Error(Errc::kIo, "no")));
              ::_exit(ended ? 0 : 3);
            }),
            3);
}

TEST(RunUntilSignal, ASecondSignalEndsTheProcessAtOnce) {
  EXPECT_EQ(status_of([] {
              (void)run(raise_and_wait(SIGTERM));
              ::raise(SIGINT);
            }),
            1);
}

}  // namespace
}  // namespace mnet::aio
