#include "cni_node/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/sha256.h"
#include "base/text.h"
#include "cni_node/command.h"
#include "cni_node/mounts.h"
#include "cni_node/work.h"
#include "ledger/ledger_file.h"
#include "nodetools/output.h"
#include "sys/directory.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::cni_node {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class OnNode : public testing::Test {
 protected:
  Directories directories() const {
    return {.plugin_source = dir / "plugins",
            .plugin_target = dir / "bin",
            .config_source = dir / "templates",
            .config_target = dir / "net.d",
            .manifest_source = dir / "manifests",
            .state = dir / "state"};
  }
  Files files(FileSettings settings = {}) { return {directories(), settings, output}; }
  std::string error_of(const Result<bool>& result) { return result ? "" : result.error().text(); }

  sys::TestDir dir;
  nodetools::RecordedOutput output;
};

// 04, 4: row 71. Two processes, a thousand writes.
TEST_F(OnNode, TwoProcessesAtOnceLeaveOneCompleteVersion) {
  const std::string versions[] = {"{\"v\":\"" + std::string(3000, 'a') + "\"}\n",
                                  "{\"v\":\"" + std::string(5000, 'b') + "\"}\n"};
  pid_t writers[2];
  for (int number = 0; number < 2; ++number) {
    writers[number] = ::fork();
    ASSERT_GE(writers[number], 0);
    if (writers[number] != 0) continue;
    Directories mine = directories();
    mine.config_source =
        sys::directory_of(dir.write(cat("templates", number, "/x.conf"), versions[number]));
    Files own(mine, {.is_quiet = true}, output);
    for (int i = 0; i < 500; ++i) {
      if (!own.install_config("x.conf")) ::_exit(1);
    }
    ::_exit(0);
  }
  int running = 2, bad = 0;
  while (running > 0) {
    const auto text = sys::find_file(dir / "net.d/x.conf").value();
    if (text && *text != versions[0] && *text != versions[1]) ++bad;
    int status = 0;
    if (::waitpid(-1, &status, WNOHANG) <= 0) continue;
    --running;
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(bad, 0);
  EXPECT_EQ(sys::list_directory(dir / "net.d")->size(), 1u);
}

// A configuration that was rendered before its writer's turn came would win over a newer one.
TEST_F(OnNode, RendersWhenItsTurnHasCome) {
  dir.write("templates/a.conf", R"({"a":__x.conf__})");
  dir.write("net.d/x.conf", "1");
  const auto target = sys::Directory::open(dir / "net.d").value();
  std::optional held = target.lock(std::chrono::seconds(1)).value();
  const auto changes_and_leaves = [&] {
    dir.write("net.d/x.conf", "2");
    held.reset();
    return false;
  };

  EXPECT_EQ(error_of(files({.stops = changes_and_leaves}).install_config("a.conf")), "");

  EXPECT_EQ(sys::read_file(dir / "net.d/a.conf").value(), "{\"a\":2}\n");
}

TEST_F(OnNode, InstallsOnlyThePluginOfThePin) {
  dir.write("plugins/p", "abc", 0755);

  EXPECT_THAT(error_of(files().install_plugin("p", std::string(64, '0'))),
              HasSubstr("its SHA-256 is ba7816bf"));
  EXPECT_FALSE(sys::exists(dir / "bin/p"));
  EXPECT_EQ(error_of(files().install_plugin("p", sha256_hex("abc"))), "");
  EXPECT_EQ(sys::read_file(dir / "bin/p").value(), "abc");
}

TEST_F(OnNode, PutsNoOlderPluginInThePlaceOfItsOwn) {
  const auto ledger = ledger::LedgerFile::load(dir / "state", {}).value();
  dir.write("plugins/p", "new", 0755);
  dir.write("plugins/.versions", "p 1.10.0\n");
  ASSERT_TRUE(Files(directories(), {}, output, ledger.get()).install_plugin("p").value());
  dir.write("plugins/p", "old", 0755);
  dir.write("plugins/.versions", "p 1.9.1\n");

  EXPECT_FALSE(Files(directories(), {}, output, ledger.get()).install_plugin("p").value());
  EXPECT_THAT(output.complaints, HasSubstr("1.9.1 is older"));
  EXPECT_EQ(sys::read_file(dir / "bin/p").value(), "new");

  EXPECT_TRUE(
      Files(directories(), {.downgrades = true}, output, ledger.get()).install_plugin("p").value());
  EXPECT_EQ(sys::read_file(dir / "bin/p").value(), "old");
}

TEST_F(OnNode, ADryRunSeesWhatItWouldHaveWritten) {
  dir.write("templates/a.conf", R"({"a":1})");
  dir.write("templates/b.conf", R"({"b":__a.conf__})");
  Files dry = files({.is_dry = true});

  EXPECT_EQ(error_of(dry.install_config("a.conf")), "");
  EXPECT_EQ(error_of(dry.install_config("b.conf")), "");

  EXPECT_THAT(output.printed, HasSubstr(R"(+{"b":{"a":1}})"));
  EXPECT_FALSE(sys::list_directory(dir / "net.d").has_value());
}

TEST_F(OnNode, WhatItPointsToTellsWhatIsWrong) {
  dir.write("templates/a.conf", R"({"a":__x.conf__})");
  EXPECT_EQ(files().render("a.conf").error().code(), Errc::kUnavailable);

  dir.write("net.d/x.conf", "{");
  EXPECT_EQ(files().render("a.conf", true).error().code(), Errc::kProtocol);
  EXPECT_EQ(files().render("a.conf").error().code(), Errc::kInvalid);

  dir.write("net.d/x.conf", "{}", 0640);
  EXPECT_EQ(files().render("a.conf", true)->mode, 0640u);
  EXPECT_THAT(*files().pointers_of("a.conf"), ElementsAre("x.conf"));
}

TEST(Mounts, AreFoundAboveAPath) {
  constexpr std::string_view kMounts =
      "1 0 0:1 / / rw - overlay overlay rw\n2 1 0:2 / /host/opt\\040x rw - ext4 /dev/x rw\n";

  EXPECT_TRUE(is_below_a_mount("/host/opt x/cni/bin", kMounts));
  EXPECT_TRUE(is_below_a_mount("/host/opt x", kMounts));
  EXPECT_FALSE(is_below_a_mount("/host/opt xy", kMounts));
  EXPECT_FALSE(is_below_a_mount("/host/etc", kMounts));
}

// 04, 4: rows 27 and 28.
TEST(Steps, InstallTheConfigurationLastAndRemoveItFirst) {
  const auto parse = [](std::vector<std::string> words) {
    words.insert(words.end(), {"--plugins=a,b:c,d", "--configs=e:f", "--manifests=g:h"});
    std::string out;
    for (const auto& phase : steps_of(parse_command(words, {}).value())) {
      for (const Step& step : phase) {
        out += cat(step.installs ? "+" : "-", join(step.names, ","), " ");
      }
      out += "| ";
    }
    return out;
  };

  EXPECT_EQ(parse({"install"}), "+a,b +e +g | ");
  EXPECT_EQ(parse({"uninstall"}), "-e -b,a -g | ");
  EXPECT_EQ(parse({"apply"}), "+a,b +e +g | -f -d,c -h | ");
}

TEST(Durations, HaveUnits) {
  using namespace std::chrono_literals;
  EXPECT_EQ(parse_duration("5m"), 5min);
  EXPECT_EQ(parse_duration("1h30m"), 90min);
  EXPECT_EQ(parse_duration("250ms"), 250ms);
  EXPECT_EQ(parse_duration("10"), 10s);
  EXPECT_EQ(parse_duration("0"), 0s);
  for (const std::string_view text : {"", "m", "5x", "-1", "1.5s", "5 m", "4000000000h"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace mnet::cni_node
