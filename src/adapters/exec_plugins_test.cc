#include "adapters/exec_plugins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/blocking_pool.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/test_log.h"
#include "base/text.h"
#include "chain/caller.h"
#include "chain/plugins.h"
#include "chain/slots.h"
#include "sys/test_dir.h"

namespace mnet::adapters {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Notes who asked and how many hold a slot.
class CountingSlots : public chain::DelegateSlots {
 public:
  aio::Task<chain::Slot> acquire(chain::SlotRequest request) override {
    asked.push_back(cat(request.ticket, request.is_del ? " DEL" : ""));
    shares.push_back(cat(request.ns, "/", request.container_id));
    sizes.push_back(request.slots);
    if (refuse) co_return Error(Errc::kCancelled, "left");
    if (request.held) co_return *std::move(request.held);
    ++held;
    co_return chain::Slot([this] { --held; });
  }
  std::optional<chain::Slot> acquire_early() override {
    if (refuse) return std::nullopt;
    ++held;
    return chain::Slot([this] { --held; });
  }
  std::vector<std::string> asked, shares;
  std::vector<std::size_t> sizes;
  int held = 0;
  bool refuse = false;
};

class ExecPluginsTest : public testing::Test {
 protected:
  ExecPlugins plugins(std::chrono::milliseconds timeout = std::chrono::seconds(30)) {
    settings_.timeout = timeout;
    settings_.environment = {"FOO=1", "CNI_COMMAND=NOPE", "PATH=/usr/bin:/bin"};
    return ExecPlugins(pool_, slots_, settings_, Log({lines_}, LogLevel::kVerbose));
  }
  std::string script(const std::string& name, const std::string& body) {
    return dir_.write(name, "#!/bin/sh\nconfig=$(cat)\n" + body + "\n", 0755);
  }
  // A real one that waits for its stdin.
  void program(const std::string& name) { std::filesystem::copy_file("/bin/" + name, dir_ / name); }
  chain::PluginRun run_of(const std::string& binary) {
    chain::PluginRun run;
    run.binary = binary;
    run.command = "ADD";
    run.dirs = {"/b", "/p"};
    run.container_id = "c1";
    run.netns = "/ns";
    run.ifname = "eth0";
    run.args = {{"A", "1"}, {"B", "2"}};
    run.config = "{}";
    run.request_id = "00112233aabbccdd";
    run.ticket = 9;
    run.pod_namespace = "tenant";
    return run;
  }
  Result<std::string> run(ExecPlugins& what, chain::PluginRun how) {
    return aio::run(loop_, what.run(std::move(how)));
  }

  chain::EarlyRun start_early(ExecPlugins& plugins, const std::string& type) {
    chain::PluginRun what = run_of("");
    what.dirs = {dir_.path()};
    return aio::run(loop_, plugins.start_early(type, std::move(what))).value();
  }

  sys::TestDir dir_;
  ExecSettings settings_;
  aio::asio::io_context loop_{1};
  aio::BlockingPool pool_{1};
  CountingSlots slots_;
  std::shared_ptr<TestLog> lines_ = std::make_shared<TestLog>();
};

// 03, 12: row 138
TEST_F(ExecPluginsTest, GivesAPluginOurEnvironmentAndItsOwn) {
  ExecPlugins plugins = this->plugins();

  auto output = run(plugins, run_of(script("p", "env")));

  ASSERT_TRUE(output) << output.error().text();
  for (const std::string line : {"FOO=1\n", "CNI_COMMAND=ADD\n", "CNI_CONTAINERID=c1\n",
                                 "CNI_NETNS=/ns\n", "CNI_IFNAME=eth0\n", "CNI_ARGS=A=1;B=2\n",
                                 "CNI_PATH=/b:/p\n", "MULTUS_REQUEST_ID=00112233aabbccdd\n"}) {
    EXPECT_THAT(*output, HasSubstr(line));
  }
  EXPECT_THAT(*output, Not(HasSubstr("NOPE")));
}

TEST_F(ExecPluginsTest, TellsHowEachRunWent) {
  std::vector<FinishedRun> runs;
  settings_.finished = [&runs](const FinishedRun& run) { runs.push_back(run); };
  ExecPlugins patient = this->plugins(), plugins = this->plugins(std::chrono::milliseconds(300));

  (void)run(patient, run_of(script("good", "echo {}")));
  (void)run(patient, run_of(script("bad", "exit 1")));
  (void)run(plugins, run_of(script("slow", "exec sleep 1000")));

  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].type, "good");
  EXPECT_EQ(runs[0].command, "ADD");
  EXPECT_FALSE(runs[0].failure.has_value());
  EXPECT_EQ(runs[1].failure, Errc::kPlugin);
  EXPECT_EQ(runs[2].failure, Errc::kTimeout);
  EXPECT_GE(runs[2].took, std::chrono::milliseconds(300));
}

TEST_F(ExecPluginsTest, TellsOfTypesWithoutAnExecutable) {
  std::vector<std::string> missing;
  settings_.missing = [&missing](const std::string& type) { missing.push_back(type); };
  ExecPlugins plugins = this->plugins();

  const auto none = aio::run(loop_, plugins.find("sriov", {dir_.path()}));
  script("bridge", "true");
  const auto there = aio::run(loop_, plugins.find("bridge", {dir_.path()}));

  EXPECT_FALSE(none.has_value());
  EXPECT_TRUE(there.has_value());
  EXPECT_THAT(missing, ElementsAre("sriov"));
}

TEST_F(ExecPluginsTest, HandsTheConfigurationOverAndTheAnswerBack) {
  ExecPlugins plugins = this->plugins();
  chain::PluginRun what = run_of(script("p", "printf %s \"$config\""));
  what.config = R"({"name":"n"})";

  EXPECT_EQ(run(plugins, what).value(), R"({"name":"n"})");
}

TEST_F(ExecPluginsTest, KeepsTheErrorObjectOfAPluginThatFailed) {
  ExecPlugins plugins = this->plugins();

  auto output = run(plugins, run_of(script("p", R"(echo '{"code":11,"msg":"busy"}'; exit 1)")));

  EXPECT_EQ(output.error().origin()->code, 11u);
  EXPECT_EQ(output.error().origin()->msg, "busy");
}

// Pain 40.
TEST_F(ExecPluginsTest, LogsTheEndOfWhatAPluginThatFailedSaid) {
  ExecPlugins plugins = this->plugins();
  const std::string much =
      "i=0; while [ $i -lt 500 ]; do echo \"line $i of many\" >&2; i=$((i+1)); done\n";

  auto output =
      run(plugins, run_of(script("p", much + R"(echo '{"code":11,"msg":"busy"}'; exit 1)")));

  EXPECT_EQ(output.error().origin()->msg, "busy");
  EXPECT_THAT(lines_->text(), HasSubstr("[error] ADD " + (dir_ / "p") +
                                        " for interface eth0 of container c1 failed after "));
  EXPECT_THAT(lines_->text(), HasSubstr(R"( ms; stderr ended with "...line )"));
  EXPECT_THAT(lines_->text(), HasSubstr("line 499 of many\" request=00112233aabbccdd\n"));
  EXPECT_THAT(lines_->text(), Not(HasSubstr("line 7 of many")));
  EXPECT_LT(lines_->text().size(), 6000u);
}

TEST_F(ExecPluginsTest, LogsWhatAPluginThatSucceededSaid) {
  ExecPlugins plugins = this->plugins();

  ASSERT_TRUE(run(plugins, run_of(script("p", "echo beware >&2"))));

  EXPECT_THAT(lines_->text(), HasSubstr("beware"));
  EXPECT_THAT(lines_->text(), HasSubstr("request=00112233aabbccdd"));
}

TEST_F(ExecPluginsTest, HoldsASlotAsLongAsTheProcessRuns) {
  ExecPlugins plugins = this->plugins();
  ASSERT_TRUE(run(plugins, run_of(script("p", "exit 0"))));
  chain::PluginRun del = run_of(dir_ / "p");
  del.command = "DEL";
  ASSERT_TRUE(run(plugins, del));

  EXPECT_THAT(slots_.asked, ElementsAre("9", "9 DEL"));
  EXPECT_THAT(slots_.shares, ElementsAre("tenant/c1", "tenant/c1"));
  EXPECT_EQ(slots_.held, 0);
}

TEST_F(ExecPluginsTest, RunsNothingWithoutASlot) {
  ExecPlugins plugins = this->plugins();
  slots_.refuse = true;

  auto output = run(plugins, run_of(script("p", "touch " + (dir_ / "ran"))));

  EXPECT_EQ(output.error().code(), Errc::kCancelled);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "ran"));
}

TEST_F(ExecPluginsTest, NobodyWaitsForUnlimitedSlotsButWhoHasLeft) {
  chain::UnlimitedSlots slots;
  EXPECT_TRUE(aio::run(loop_, slots.acquire({})));
  auto caller = std::make_shared<chain::Caller>();
  EXPECT_TRUE(aio::run(loop_, slots.acquire({.ticket = 1, .is_del = false, .caller = caller})));
  caller->leave();
  EXPECT_FALSE(aio::run(loop_, slots.acquire({.ticket = 1, .is_del = false, .caller = caller})));
}

TEST_F(ExecPluginsTest, StartsAPluginAheadOfItsTurn) {
  std::vector<FinishedRun> runs;
  settings_.finished = [&runs](const FinishedRun& run) { runs.push_back(run); };
  ExecPlugins plugins = this->plugins();
  program("cat");

  chain::EarlyRun early = start_early(plugins, "cat");
  ASSERT_TRUE(early);
  EXPECT_EQ(slots_.held, 1);
  auto output = aio::run(loop_, early(R"({"name":"n"})"));

  EXPECT_EQ(output.value(), R"({"name":"n"})");
  EXPECT_EQ(slots_.held, 0);
  EXPECT_THAT(slots_.asked, ElementsAre("9"));
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].type, "cat");
}

TEST_F(ExecPluginsTest, EndsAPluginWhoseTurnNeverComes) {
  ExecPlugins plugins = this->plugins();
  program("cat");
  chain::EarlyRun early = start_early(plugins, "cat");
  ASSERT_TRUE(early);

  early = nullptr;

  EXPECT_EQ(slots_.held, 0);
}

TEST_F(ExecPluginsTest, TellsAPluginNothingOnceItsCallerHasLeft) {
  ExecPlugins plugins = this->plugins();
  program("cat");
  chain::EarlyRun early = start_early(plugins, "cat");
  ASSERT_TRUE(early);

  slots_.refuse = true;
  auto output = aio::run(loop_, early("{}"));

  EXPECT_EQ(output.error().code(), Errc::kCancelled);
  EXPECT_EQ(slots_.held, 0);
}

TEST_F(ExecPluginsTest, StartsNothingEarlyWithoutRoomOrProgram) {
  std::vector<std::string> missing;
  settings_.missing = [&missing](const std::string& type) { missing.push_back(type); };
  ExecPlugins plugins = this->plugins();
  program("cat");
  script("script", cat("touch ", dir_ / "acted"));
  dir_.write("broken",
             "\x7f"
             "ELF, and nothing else",
             0755);

  EXPECT_FALSE(start_early(plugins, "none"));
  EXPECT_FALSE(start_early(plugins, "broken"));
  EXPECT_FALSE(start_early(plugins, "script"));
  slots_.refuse = true;
  EXPECT_FALSE(start_early(plugins, "cat"));

  EXPECT_EQ(slots_.held, 0);
  EXPECT_THAT(missing, IsEmpty());  // the run itself reports it
  EXPECT_FALSE(std::filesystem::exists(dir_ / "acted"));
}

// 02, 12: row 132
TEST_F(ExecPluginsTest, EndsAProcessThatRunsPastItsLimit) {
  ExecPlugins plugins = this->plugins(std::chrono::milliseconds(50));

  auto output = run(plugins, run_of(script("p", "exec sleep 1000")));

  EXPECT_THAT(output.error().text(), HasSubstr("signal: killed"));
  EXPECT_EQ(slots_.held, 0);
}

TEST_F(ExecPluginsTest, FindsThePluginInTheFirstDirectoryThatHasIt) {
  ExecPlugins plugins = this->plugins();
  script("a/p", "");
  script("b/p", "");

  EXPECT_EQ(aio::run(loop_, plugins.find("p", {dir_ / "none", dir_ / "b", dir_ / "a"})).value(),
            dir_ / "b/p");
  EXPECT_THAT(aio::run(loop_, plugins.find("q", {"/x"})).error().text(),
              HasSubstr("failed to find plugin \"q\" in path [/x]"));
}

TEST_F(ExecPluginsTest, FindsThePluginInAnotherMountNamespace) {
  ExecSettings settings;
  settings.world.mount_namespace = "/proc/self/ns/mnt";
  ExecPlugins plugins(pool_, slots_, settings, Log());
  script("a/p", "");

  EXPECT_EQ(aio::run(loop_, plugins.find("p", {dir_ / "a"})).value(), dir_ / "a/p");
}

TEST_F(ExecPluginsTest, TakesAsManySlotsAsItsTypeNeedsAndStartsNoneEarlyThatNeedsSeveral) {
  program("cat");
  settings_.slots_of = [](const std::string& type) { return type == "cat" ? 3u : 1u; };
  ExecPlugins plugins = this->plugins();

  ASSERT_TRUE(run(plugins, run_of(dir_ / "cat")));

  EXPECT_THAT(slots_.sizes, ElementsAre(3u));
  EXPECT_EQ(start_early(plugins, "cat"), nullptr);
}

TEST_F(ExecPluginsTest, SaysThatTheKernelKilledAPluginBecauseMemoryRanOut) {
  std::uint64_t kills = 7;
  settings_.oom_kills = [&kills] { return std::optional(kills); };
  std::vector<bool> told;
  settings_.finished = [&told](const FinishedRun& run) { told.push_back(run.was_out_of_memory); };
  const std::string victim = script("victim", "kill -9 $$");
  ExecPlugins plugins = this->plugins();

  const auto by_another = run(plugins, run_of(victim));
  kills += 2;  // both of the next two, before the first is asked about
  const auto first = run(plugins, run_of(victim));
  const auto second = run(plugins, run_of(victim));

  ASSERT_TRUE(!by_another && !first && !second);
  EXPECT_THAT(first.error().origin()->details, HasSubstr("memory ran out"));
  EXPECT_THAT(by_another.error().origin()->details, IsEmpty());
  EXPECT_THAT(told, ElementsAre(false, true, true));
}

// What the node lacks is said in the details; the plugin's own words stay.
TEST_F(ExecPluginsTest, AFailedAddIsExplainedByTheHintIfThereIsOne) {
  settings_.hint = [](const std::string& config) {
    return config.contains("eth7") ? "master \"eth7\" does not exist on this node" : "";
  };
  const std::string failing =
      script("failing", R"(echo '{"code":100,"msg":"Link not found"}'; exit 1)");
  ExecPlugins all = plugins();

  for (const std::string master : {"eth0", "eth7"}) {
    chain::PluginRun what = run_of(failing);
    what.config = cat(R"({"master":")", master, R"("})");
    const auto failed = aio::run(all.run(std::move(what)));

    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().origin()->code, 100u);
    EXPECT_EQ(failed.error().origin()->msg, "Link not found");
    EXPECT_EQ(failed.error().origin()->details,
              master == "eth7" ? "master \"eth7\" does not exist on this node" : "");
  }
}

}  // namespace
}  // namespace mnet::adapters
