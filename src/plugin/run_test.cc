#include "aio/run.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aio/group.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "cni/result.h"
#include "json/json.h"
#include "plugin/plugin.h"
#include "plugin/plugin_fixture.h"
#include "sys/fd.h"
#include "sys/test_programs.h"

namespace mnet::plugin {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

using Clock = std::chrono::steady_clock;
using PluginRun = PluginTest;

ErrorObject said(const Result<Output>& output) {
  if (output) return {0, "it succeeded", ""};
  if (output.error().origin() == nullptr) return {0, "no error object", ""};
  return *output.error().origin();
}

// I20: the caller does the copying.
TEST_F(PluginRun, YieldsWhatThePluginPrints) {
  auto output = aio::run(run(call(script("cat; echo warning >&2"), R"({"a":1})")));

  ASSERT_TRUE(output.has_value()) << output.error().text();
  EXPECT_EQ(output->out, R"({"a":1})");
  EXPECT_EQ(output->err, "warning\n");
}

TEST_F(PluginRun, WaitsForItsConfigurationOnceItIsStarted) {
  Invocation what = call(script(cat("config=$(cat); touch ", dir / "acted", "; echo $config")));
  auto child = start(what);
  ASSERT_TRUE(child.has_value()) << child.error().text();
  EXPECT_FALSE(child->reap().has_value());
  EXPECT_FALSE(fs::exists(dir / "acted"));

  what.config = R"({"a":2})";
  auto output = aio::run(run_started(*std::move(child), std::move(what)));

  ASSERT_TRUE(output.has_value()) << output.error().text();
  EXPECT_EQ(output->out, "{\"a\":2}\n");
  EXPECT_TRUE(fs::exists(dir / "acted"));
}

TEST_F(PluginRun, IsEndedIfItsConfigurationNeverComes) {
  auto child = start(call(script(cat("config=$(cat); touch ", dir / "acted"))));
  ASSERT_TRUE(child.has_value()) << child.error().text();
  const auto pid = child->pid();

  child = Error(Errc::kCancelled, "it goes");

  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_FALSE(fs::exists(dir / "acted"));
}

// I13, I24; 03, rows 136 and 138.
TEST_F(PluginRun, GivesThePluginExactlyItsEnvironmentAndNothingElse) {
  const sys::UniqueFd leaky(::open("/dev/null", O_RDONLY));  // NOLINT(android-cloexec-open): leaks
  const std::string path = fake(R"({"record":")" + (dir / "record") + R"("})");
  Invocation what = call(path, R"({"name":"n","blob":"<&>"})");
  what.env = environment({"CNI_COMMAND=DEL", "FOO=1", "PATH=/bin"},
                         {{"CNI_COMMAND", "ADD"}, {"MULTUS_REQUEST_ID", "0123456789abcdef"}});
  const std::vector<std::string> env = what.env;

  ASSERT_TRUE(aio::run(run(std::move(what))).has_value());

  ASSERT_THAT(calls(), SizeIs(1));
  const json::Object seen = calls()[0];
  EXPECT_EQ(*seen.find("env"), json::Value(env));
  EXPECT_EQ(*seen.find("argv"), json::Value(json::Array{path}));
  EXPECT_EQ(*seen.find("stdin"), json::Value(to_base64(R"({"name":"n","blob":"<&>"})")));
  EXPECT_EQ(*seen.find("descriptors"), json::Value(json::Array{0, 1, 2}));
  EXPECT_EQ(*seen.find("blocked_signals"), json::Value(json::Array{}));
  EXPECT_EQ(*seen.find("ignored_signals"), json::Value(json::Array{}));
  EXPECT_EQ(*seen.find("pid"), *seen.find("group"));
  EXPECT_EQ(*seen.find("cwd"), json::Value(fs::current_path().string()));
}

// Row I4.
TEST_F(PluginRun, SaysWhyItCannotStart) {
  const std::string path = dir.write("plain", "#!/bin/sh\n", 0644);

  auto output = aio::run(run(call(path)));

  EXPECT_EQ(said(output), (ErrorObject{0,
                                       "netplugin failed with no error message: fork/exec " + path +
                                           ": permission denied",
                                       ""}));
  EXPECT_EQ(output.error().code(), Errc::kPlugin);
}

// Rows I5 to I8; the texts in full: failure_test.
TEST_F(PluginRun, JudgesByTheExitStatusAlone) {
  auto error = aio::run(
      run(call(fake(R"({"ADD":{"error":{"code":11,"msg":"busy","details":"wait"},"exit":3}})"))));
  auto success = aio::run(run(call(fake(R"({"ADD":{"error":{"code":11,"msg":"x"},"exit":0}})"))));
  auto result = aio::run(run(call(fake(R"({"ADD":{"exit":1}})"))));

  EXPECT_EQ(said(error), (ErrorObject{11, "busy", "wait"}));
  EXPECT_TRUE(success.has_value());
  EXPECT_EQ(said(result).msg, "netplugin failed with no error message: exit status 1");
}

TEST_F(PluginRun, TellsASignal) {
  auto crashed = aio::run(run(call(fake(R"({"ADD":{"stdout":"","signal":9}})"))));

  EXPECT_EQ(said(crashed).msg, "netplugin failed with no error message: signal: killed");
}

// Rows I9 to I12: what is made of the output.
TEST_F(PluginRun, OutputOfAnAddIsReadByTheConfigurationsVersion) {
  struct Case {
    const char* out;
    const char* version;  // of the result
    const char* error;
  };
  for (const Case& c :
       {Case{"null", "1.0.0", ""}, Case{"{}", "1.0.0", ""},
        Case{R"({"code":8,"msg":"m"})", "1.0.0", ""}, Case{R"({"cniVersion":""})", "1.0.0", ""},
        Case{R"({"cniVersion":5})", "1.0.0", ""}, Case{"", "", "failed to unmarshal raw result: "},
        Case{"[]", "", "failed to unmarshal raw result: "},
        Case{"x", "", "failed to unmarshal raw result: "},
        Case{R"({"cniVersion":"7.0.0"})", "", "unsupported CNI result version \"7.0.0\""}}) {
    const std::string orders = json::dump(json::Object{{"ADD", json::Object{{"stdout", c.out}}}});
    auto output = aio::run(run(call(fake(orders), R"({"cniVersion":"1.0.0"})")));
    ASSERT_TRUE(output.has_value());

    auto result = cni::read_plugin_output(output->out, "1.0.0");

    if (result) {
      EXPECT_EQ(result->version, c.version) << c.out;
      EXPECT_FALSE(result->has_content());
    } else {
      EXPECT_THAT(result.error().text(), HasSubstr(c.error)) << c.out;
      EXPECT_STRNE(c.error, "") << c.out;
    }
  }
}

// Row I17.
TEST_F(PluginRun, DoesNotCareWhetherStdinIsRead) {
  const std::string config(1u << 20, ' ');

  auto output = aio::run(run(call(fake(R"({"*":{"ignore_stdin":true}})"), config)));

  EXPECT_TRUE(output.has_value()) << output.error().text();
}

TEST_F(PluginRun, FeedsAndListensAtTheSameTime) {
  Invocation what = call(fake(R"({"record":")" + (dir / "record") +
                              R"(","ADD":{"answer_first":true,"stdout_bytes":1048576,)"
                              R"("stderr_bytes":1048576}})"),
                         std::string(1u << 20, ' '));

  auto output = aio::run(run(std::move(what)));

  ASSERT_TRUE(output.has_value()) << output.error().text();
  EXPECT_EQ(output->out.size(), 1u << 20);
  EXPECT_EQ(output->err.size(), 1u << 20);
}

TEST_F(PluginRun, SendsALargeConfigurationWhole) {
  const std::string config(3u << 20, 'x');

  auto output = aio::run(run(call(script("cat"), config)));

  EXPECT_EQ(output.value().out, config);
}

// Row 139 of chapter 03.
TEST_F(PluginRun, EndsAPluginThatSaysTooMuch) {
  auto out = aio::run(run(call(fake(R"({"ADD":{"stdout_bytes":67108864}})"))));
  auto err = aio::run(run(call(fake(R"({"ADD":{"stderr_bytes":67108864}})"))));

  EXPECT_THAT(said(out).msg, HasSubstr("more than 16777216 bytes to stdout"));
  EXPECT_EQ(out.error().code(), Errc::kPlugin);
  EXPECT_THAT(said(err).msg, HasSubstr("more than 16777216 bytes to stderr"));
}

// Row I15 of chapter 01, 137 of chapter 03.
TEST_F(PluginRun, TriesAgainWhileTheExecutableIsBeingWritten) {
  fs::copy_file(sys::test_tool("instant-delegate"), dir / "busy");
  auto writer =
      std::make_shared<sys::UniqueFd>(::open((dir / "busy").c_str(), O_WRONLY | O_CLOEXEC));
  aio::asio::io_context loop;
  aio::Group group(loop.get_executor(), Log());
  group.spawn("writer", [](std::shared_ptr<sys::UniqueFd> file) -> aio::Task<void> {
    auto slept = co_await aio::sleep_for(50ms);
    file->reset();
    co_return slept;
  }(writer));
  Invocation what = call(dir / "busy");
  what.busy_pause = 20ms;

  auto output = aio::run(loop, run(std::move(what)));

  EXPECT_TRUE(output.has_value()) << output.error().text();
}

// Row I16 of chapter 01, 137 of chapter 03.
TEST_F(PluginRun, GivesUpAfterSixTries) {
  fs::copy_file(sys::test_tool("instant-delegate"), dir / "busy");
  const sys::UniqueFd writer(::open((dir / "busy").c_str(), O_WRONLY | O_CLOEXEC));
  Invocation what = call(dir / "busy");
  what.busy_pause = 20ms;
  const auto start = Clock::now();

  auto output = aio::run(run(std::move(what)));

  EXPECT_EQ(said(output).msg, "netplugin failed with no error message: fork/exec " +
                                  (dir / "busy") + ": text file busy");
  EXPECT_GE(Clock::now() - start, 100ms);
  EXPECT_EQ(Invocation().busy_pause, 1s);
}

TEST_F(PluginRun, KeepsItsDeadlineWhileItWaitsForABusyExecutable) {
  fs::copy_file(sys::test_tool("instant-delegate"), dir / "busy");
  const sys::UniqueFd writer(::open((dir / "busy").c_str(), O_WRONLY | O_CLOEXEC));
  Invocation what = call(dir / "busy");
  what.busy_pause = 1h;
  what.deadline = in(1s);  // it must have tried once

  auto output = aio::run(run(std::move(what)));

  EXPECT_EQ(output.error().code(), Errc::kTimeout);
  EXPECT_THAT(said(output).msg, HasSubstr("text file busy"));
}

TEST_F(PluginRun, StartsNothingWhenItsTimeIsUp) {
  Invocation what = call(fake(R"({"record":")" + (dir / "record") + R"("})"));
  what.deadline = Clock::now();

  auto output = aio::run(run(std::move(what)));

  EXPECT_EQ(said(output).msg, "netplugin failed with no error message: context deadline exceeded");
  EXPECT_EQ(output.error().code(), Errc::kTimeout);
  EXPECT_THAT(calls(), IsEmpty());
}

}  // namespace
}  // namespace mnet::plugin
