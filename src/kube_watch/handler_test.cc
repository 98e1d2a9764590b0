#include "kube_watch/handler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "aio/group.h"
#include "aio/run.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "kube/fake_api.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::kube_watch {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

HandlerCall call_of(std::string script, std::vector<std::string> more = {}) {
  std::vector<std::string> args{"-c", std::move(script), "handler"};
  args.insert(args.end(), more.begin(), more.end());
  return {.handler = "/bin/sh", .args = std::move(args), .environment = {"PATH=/usr/bin:/bin"}};
}

TEST(Handler, GetsItsArgumentsAndAnEmptyInput) {
  const sys::TestDir dir;
  Handler handler;

  const auto ran = aio::run(
      handler.run(call_of("printf '%s|' \"$@\" > " + (dir / "out") + "; cat >> " + (dir / "out"),
                          {"a b", "", "c\nd"})));

  ASSERT_TRUE(ran.has_value()) << ran.error().text();
  EXPECT_EQ(*sys::read_file(dir / "out"), "a b||c\nd|");
}

TEST(Handler, SaysHowItEnded) {
  Handler handler;

  EXPECT_EQ(aio::run(handler.run(call_of("exit 3"))).error().text(), "exit 3");
  EXPECT_EQ(aio::run(handler.run(call_of("kill -9 $$"))).error().text(), "signal: killed");
  EXPECT_THAT(aio::run(handler.run({.handler = "/no/such"})).error().text(),
              HasSubstr("no such file"));
  EXPECT_THAT(aio::run(handler.run({.handler = "no-such"})).error().text(),
              HasSubstr("not found in PATH"));
}

// As execvp does.
TEST(Handler, WithoutAnInterpreterIsRunByTheShell) {
  const sys::TestDir dir;
  dir.write("handler", "printf '%s|' \"$0\" \"$@\" > \"$OUT\"\n", 0755);
  Handler handler;

  const auto ran = aio::run(handler.run(
      {.handler = dir / "handler", .args = {"a", "b c"}, .environment = {"OUT=" + (dir / "out")}}));

  ASSERT_TRUE(ran.has_value()) << ran.error().text();
  EXPECT_EQ(*sys::read_file(dir / "out"), (dir / "handler") + "|a|b c|");
}

TEST(Handler, ThatTakesLongIsSpokenOf) {
  Handler handler({.first_word = 1ms});
  HandlerCall call = call_of("read line < \"$FIFO\"");
  const sys::TestDir dir;
  const std::string fifo = dir / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  call.environment.push_back("FIFO=" + fifo);
  int told = 0;
  call.still_runs = [&](std::chrono::seconds) {
    if (++told == 2) std::ofstream(fifo) << "go\n";
  };

  EXPECT_TRUE(aio::run(handler.run(call)).has_value());
  EXPECT_GE(told, 2);
}

TEST(Handler, IsLookedForAsExecvpDoes) {
  const sys::TestDir dir;
  dir.write("a/tool", "", 0644);
  dir.write("b/tool", "", 0755);

  EXPECT_EQ(
      *find_handler("tool", {"PATH=" + (dir / "none") + ":" + (dir / "a") + ":" + (dir / "b")}),
      dir / "b/tool");
  EXPECT_EQ(*find_handler("./x", {}), "./x");
  EXPECT_TRUE(find_handler("sh", {}).has_value());
}

TEST(Handler, IsEndedAtItsTimeWhateverItDoesWithSignals) {
  Handler handler({.after_timeout = 50ms});
  HandlerCall call = call_of("trap '' TERM; sleep 60 & wait; sleep 60");
  call.timeout = 1s;
  const auto begin = std::chrono::steady_clock::now();

  const auto ran = aio::run(handler.run(call));

  ASSERT_FALSE(ran.has_value());
  EXPECT_EQ(ran.error().code(), Errc::kTimeout);
  EXPECT_THAT(ran.error().text(), HasSubstr("timeout"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST(Handler, IsToldToEndWhenItIsCancelled) {
  const sys::TestDir dir;
  aio::asio::io_context loop(1);
  Handler handler;
  aio::Group group(loop.get_executor(), Log());
  group.spawn("handler",
              handler.run(call_of("trap 'echo told > " + (dir / "out") + "; exit 0' TERM; echo > " +
                                  (dir / "ready") + "; while :; do sleep 0.01; done")));
  ASSERT_TRUE(kube::drive(loop, [&] { return sys::read_file(dir / "ready").has_value(); }));

  group.cancel();
  ASSERT_TRUE(aio::run(loop, group.join()).has_value());

  EXPECT_EQ(*sys::read_file(dir / "out"), "told\n");
}

}  // namespace
}  // namespace mnet::kube_watch
