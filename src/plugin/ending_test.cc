// Plugins that are ended before they end by themselves, and what they leave behind.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/group.h"
#include "aio/run.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "plugin/orphans.h"
#include "plugin/plugin.h"
#include "plugin/plugin_fixture.h"
#include "sys/fd.h"
#include "sys/test_programs.h"

namespace mnet::plugin {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

using Clock = std::chrono::steady_clock;

class PluginEnding : public PluginTest {
 protected:
  // Processes that a test leaves are found by this variable, and ended.
  static std::string mark() {
    return cat("MNET_", testing::UnitTest::GetInstance()->current_test_info()->name(), "_",
               ::getpid());
  }
  static Invocation marked(std::string binary) {
    Invocation what = call(std::move(binary));
    what.env.push_back(mark() + "=1");
    return what;
  }
  static std::vector<Process> left_over() { return list_processes_with(mark()).value(); }

  void TearDown() override { EXPECT_TRUE(end_processes(left_over(), 0ms).has_value()); }
};

// Row I18: with no grace it is upstream's behaviour.
TEST_F(PluginEnding, ComesAtTheDeadline) {
  Invocation what = marked(fake(R"({"ADD":{"hang":true,"ignore_sigterm":true}})"));
  what.deadline = in(100ms);
  what.grace = 0ms;

  auto output = aio::run(run(std::move(what)));

  ASSERT_FALSE(output.has_value());
  EXPECT_EQ(output.error().code(), Errc::kTimeout);
  EXPECT_EQ(output.error().origin()->msg, "netplugin failed with no error message: signal: killed");
  EXPECT_EQ(output.error().origin()->details, "it ran past its time limit");
}

TEST_F(PluginEnding, IsAskedForFirst) {
  const std::string path = script(
      "trap 'echo \"{\\\"code\\\":50,\\\"msg\\\":\\\"ended orderly\\\"}\"; exit 1' TERM\n"
      "echo >&2 up; sleep 1000 & wait\n");
  Invocation what = marked(path);
  what.deadline = in(3s);  // it must have come as far as its trap

  auto output = aio::run(run(std::move(what)));

  EXPECT_EQ(output.error().text(), "ended orderly");
  EXPECT_EQ(output.error().origin()->code, 50u);
  EXPECT_EQ(output.error().code(), Errc::kTimeout);
  EXPECT_THAT(left_over(), IsEmpty());
}

TEST_F(PluginEnding, IsForcedAfterTheGracePeriodOnTheWholeGroup) {
  Invocation what =
      marked(fake(R"({"ADD":{"hang":true,"ignore_sigterm":true,"child_seconds":1000}})"));
  what.deadline = in(100ms);
  what.grace = 50ms;

  auto output = aio::run(run(std::move(what)));

  EXPECT_EQ(output.error().code(), Errc::kTimeout);
  EXPECT_THAT(left_over(), IsEmpty());
}

TEST_F(PluginEnding, OfAPluginThatSucceedsTooLateIsAFailure) {
  // Exits 0 on SIGTERM; what it was about to do is unknown.
  Invocation what = marked(script("trap 'exit 0' TERM; sleep 1000 & wait\n"));
  what.deadline = in(200ms);

  EXPECT_EQ(aio::run(run(std::move(what))).error().code(), Errc::kTimeout);
}

// Row I19.
TEST_F(PluginEnding, DoesNotWaitForAGrandchildThatKeepsThePipes) {
  Invocation late =
      marked(fake(R"({"ADD":{"child_seconds":1000,"child_leaves_group":true,"hang":true}})"));
  late.deadline = in(300ms);
  const auto start = Clock::now();

  auto ended = aio::run(run(std::move(late)));
  auto output = aio::run(run(marked(fake(R"({"ADD":{"child_seconds":1000}})"))));

  EXPECT_EQ(ended.error().code(), Errc::kTimeout);
  ASSERT_TRUE(output.has_value()) << output.error().text();
  EXPECT_THAT(output->out, HasSubstr("cniVersion"));
  EXPECT_LT(Clock::now() - start, 20s);
}

// Keeps the outcome of a run, whatever happens to the task that asked for it.
aio::Task<void> keep(Invocation what, std::optional<Result<Output>>* outcome) {
  auto output = co_await run(std::move(what));
  outcome->emplace(std::move(output));
  co_return Result<void>();
}

TEST_F(PluginEnding, ComesByCancellingAndTheTaskEndsWhenTheChildIsReaped) {
  aio::asio::io_context loop;
  aio::Group group(loop.get_executor(), Log());
  std::optional<Result<Output>> outcome;
  Invocation what = marked(fake(R"({"ADD":{"hang":true}})"));
  pid_t pid = 0;
  what.started = [&pid](pid_t started) { pid = started; };
  group.spawn("run", keep(std::move(what), &outcome));
  loop.poll();
  ASSERT_GT(pid, 0);

  group.cancel();
  ASSERT_TRUE(aio::run(loop, group.join(in(30s))).has_value());

  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->error().code(), Errc::kCancelled);
  EXPECT_EQ(outcome->error().origin()->msg,
            "netplugin failed with no error message: signal: killed");
  EXPECT_EQ(::kill(pid, 0), -1);
}

aio::Task<void> run_although_cancelled(Invocation what, std::optional<Result<Output>>* outcome) {
  auto slept = co_await aio::sleep_until(aio::kNoDeadline);
  static_cast<void>(slept);
  co_return co_await keep(std::move(what), outcome);
}

TEST_F(PluginEnding, OfACancelledCallerComesBeforeTheStart) {
  aio::asio::io_context loop;
  aio::Group group(loop.get_executor(), Log());
  std::optional<Result<Output>> outcome;
  group.spawn("run", run_although_cancelled(marked("/bin/true"), &outcome));
  loop.poll();

  group.cancel();
  ASSERT_TRUE(aio::run(loop, group.join()).has_value());

  EXPECT_EQ(outcome->error().text(), "netplugin failed with no error message: context canceled");
}

TEST_F(PluginEnding, InterruptsTheWaitForABusyExecutable) {
  std::filesystem::copy_file(sys::test_tool("instant-delegate"), dir / "busy");
  const sys::UniqueFd writer(::open((dir / "busy").c_str(), O_WRONLY | O_CLOEXEC));
  aio::asio::io_context loop;
  aio::Group group(loop.get_executor(), Log());
  std::optional<Result<Output>> outcome;
  Invocation what = marked(dir / "busy");
  what.busy_pause = 1h;
  group.spawn("run", keep(std::move(what), &outcome));
  loop.poll();

  group.cancel();
  ASSERT_TRUE(aio::run(loop, group.join(in(10s))).has_value());

  EXPECT_EQ(outcome->error().code(), Errc::kCancelled);
}

aio::Task<int> run_many(std::vector<aio::Task<Output>> runs) {
  auto outputs = co_await aio::all(std::move(runs));
  int good = 0;
  for (const auto& output : outputs) good += output && output->out.ends_with("}\n") ? 1 : 0;
  co_return good;
}

TEST_F(PluginEnding, OfManyAtOnceIsEachOnesOwn) {
  std::vector<aio::Task<Output>> runs;
  for (int i = 0; i < 100; ++i) runs.push_back(run(marked(sys::test_tool("instant-delegate"))));

  EXPECT_EQ(aio::run(run_many(std::move(runs))).value(), 100);
}

TEST_F(PluginEnding, WithTheLoopLeavesNoProcess) {
  {
    aio::asio::io_context loop;
    aio::Group group(loop.get_executor(), Log());
    std::optional<Result<Output>> outcome;
    group.spawn("run", keep(marked(fake(R"({"ADD":{"hang":true}})")), &outcome));
    loop.poll();
  }

  EXPECT_THAT(left_over(), IsEmpty());
}

}  // namespace
}  // namespace mnet::plugin
