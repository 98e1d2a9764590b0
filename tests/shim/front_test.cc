// multus-shim and passthru as programs: flags, versions, what they refuse before asking anyone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
#include "process.h"
#include "shim/fake_daemon.h"
#include "sys/test_dir.h"
#include "wire/wire.h"

namespace mnet::test {
namespace {

using shim::FakeDaemon;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

constexpr std::string_view kVersions =
    R"({"cniVersion":"1.1.0","supportedVersions":["0.1.0","0.2.0","0.3.0","0.3.1","0.4.0","1.0.0",)"
    "\"1.1.0\"]}\n";
constexpr std::string_view kStdin = R"({"name":"n","cniVersion":"1.1.0"})";

Finished add(std::vector<std::string> env, std::string_view text = kStdin) {
  return run({.env = std::move(env), .text = std::string(text)});
}

std::vector<std::string> env_with(std::string_view command, const std::string& entry) {
  std::vector<std::string> env = {entry};
  const std::string name = entry.substr(0, entry.find('=') + 1);
  for (const std::string& other : standard_env(command)) {
    if (!other.starts_with(name)) env.push_back(other);
  }
  return env;
}

std::string answering_config(const sys::TestDir& dir) {
  return cat(R"({"name":"n","cniVersion":"1.1.0","logToStderr":true,"logLevel":"debug",)",
             R"("daemonSocketDir":")", dir.path(), R"("})");
}

// 03, 12: row 78.
TEST(ShimProgram, PrintsItsVersion) {
  for (const char* flag : {"-v", "-version", "--version", "-v=true"}) {
    const Finished finished = run({.words = {flag}});

    EXPECT_EQ(finished.exit, 0);
    EXPECT_EQ(finished.out, version_line("multus-shim") + "\n");
  }
}

// 03, 12: row 78.
TEST(ShimProgram, SpeaksTheDialectOfGoFlags) {
  EXPECT_EQ(run({.words = {"-h"}}).exit, 0);
  EXPECT_THAT(run({.words = {"-h"}}).err, HasSubstr("-version"));
  const Finished unknown = run({.words = {"-nope"}});
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_THAT(unknown.err, StartsWith("flag provided but not defined: -nope\n"));
  EXPECT_EQ(run({.words = {"word", "-nope"}, .env = {"CNI_COMMAND=VERSION"}}).out, kVersions);
}

// 03, 12: row 78.
TEST(ShimProgram, SaysWhatItIsWithoutACommand) {
  const Finished finished = run({});

  EXPECT_EQ(finished.exit, 0);
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(finished.err,
            "meta-plugin that delegates to other CNI plugins\nCNI protocol versions supported: "
            "0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0\n");
}

// 03, 12: rows 78 and 96.
TEST(ShimProgram, AnswersVersionWithEverythingElseClosed) {
  const Finished finished = run({.env = {"CNI_COMMAND=VERSION"}, .closed = {0, 2}});

  EXPECT_EQ(finished.exit, 0);
  EXPECT_EQ(finished.out, kVersions);
}

TEST(ShimProgram, FailsWhenItsAnswerCannotBeWritten) {
  const Finished finished = run({.env = {"CNI_COMMAND=VERSION"}, .closed = {1}});

  EXPECT_EQ(finished.exit, 1);
  EXPECT_THAT(finished.err, StartsWith("Error writing error JSON to stdout: "));
}

// 03, 12: row 79.
TEST(ShimProgram, ChecksItsEnvironmentFirst) {
  EXPECT_EQ(add(env_with("ADD", "CNI_PATH=")).error(),
            (ErrorObject{4, "required env variables [CNI_PATH] missing", ""}));
  for (const char* entry :
       {"CNI_IFNAME=a234567890123456", "CNI_IFNAME=a/b", "CNI_IFNAME=..", "CNI_CONTAINERID=a b"}) {
    const Finished finished = add(env_with("ADD", entry));

    EXPECT_EQ(finished.exit, 1) << entry;
    EXPECT_EQ(finished.error().code, 4u) << entry;
  }
}

// 03, 12: row 80.
TEST(ShimProgram, ChecksItsStdin) {
  EXPECT_EQ(add(standard_env("ADD"), "").error().code, 6u);
  EXPECT_EQ(add(standard_env("ADD"), "{").error().code, 6u);
  EXPECT_EQ(add(standard_env("ADD"), "{}").error().code, 7u);
  EXPECT_EQ(add(standard_env("ADD"), R"({"name":"a b"})").error().code, 7u);
}

// 03, 12: row 81.
TEST(ShimProgram, ChecksTheVersionAskedFor) {
  EXPECT_EQ(add(standard_env("ADD"), R"({"name":"n","cniVersion":"9.9.9"})").error().msg,
            "incompatible CNI versions");
  EXPECT_EQ(add(standard_env("CHECK"), R"({"name":"n","cniVersion":"0.3.1"})").error().msg,
            "config version does not allow CHECK");
  EXPECT_EQ(add(standard_env("GC"), R"({"name":"n","cniVersion":"1.0.0"})").error().msg,
            "config version does not allow GC");
}

TEST(ShimProgram, RefusesToWorkInItsOwnNamespace) {
  const Finished finished = add(env_with("ADD", "CNI_NETNS=/proc/self/ns/net"));

  EXPECT_EQ(finished.exit, 1);
  EXPECT_EQ(finished.error().code, 8u);
}

// 03, 12: row 91.
TEST(ShimProgram, SendsItsVariablesAndNothingElseOfAHugeEnvironment) {
  const rlimit room{.rlim_cur = 64u << 20, .rlim_max = RLIM_INFINITY};
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_STACK, &before), 0);
  ASSERT_EQ(::setrlimit(RLIMIT_STACK, &room), 0);  // a quarter of it is for the environment
  const sys::TestDir dir;
  const FakeDaemon daemon(dir / "multus.sock", {{"/cni", {{.bytes = shim::http(200, "")}}}});
  std::vector<std::string> env = standard_env("CHECK");
  for (int i = 0; i < 32; ++i) env.push_back(cat("SECRET", i, "=", std::string(64 << 10, 's')));
  env.insert(env.end(), {"CNI_X=b=c", "CNI_EMPTY=", "CNI_ODD=a\n\xff<", "PATH=/bin"});

  const Finished finished = run({.env = env, .text = answering_config(dir)});

  ASSERT_EQ(::setrlimit(RLIMIT_STACK, &before), 0);
  ASSERT_EQ(finished.exit, 0) << finished.out;
  ASSERT_THAT(daemon.seen("/cni"), SizeIs(1));
  const auto sent = wire::parse_request(daemon.seen("/cni")[0].body);
  ASSERT_TRUE(sent.has_value());
  EXPECT_THAT(sent->env, SizeIs(10));
  EXPECT_EQ(*sent->find_env("CNI_X"), "b=c");
  EXPECT_EQ(*sent->find_env("CNI_EMPTY"), "");
  EXPECT_EQ(*sent->find_env("CNI_ODD"), "a\n\xef\xbf\xbd<");
  EXPECT_EQ(*sent->find_env("PATH"), "/bin");
}

// 03, 12: row 96: had the socket become descriptor 2, the daemon would get log lines.
TEST(ShimProgram, SendsNoLogLinesToTheDaemonWhenStderrIsClosed) {
  const sys::TestDir dir;
  const std::string result = R"({"Result":{"cniVersion":"1.1.0","interfaces":[{"name":"eth0"}]}})";
  const FakeDaemon daemon(dir / "multus.sock", {{"/cni", {{.bytes = shim::http(200, result)}}}});

  const Finished finished =
      run({.env = standard_env("ADD"), .text = answering_config(dir), .closed = {2}});

  EXPECT_EQ(finished.exit, 0);
  EXPECT_THAT(finished.out, HasSubstr("eth0"));
  EXPECT_THAT(daemon.seen("/cni")[0].body, StartsWith(R"({"env":)"));
}

// 03, 9.3.
TEST(Passthru, AnswersAddWithTheVersionAlone) {
  const auto add_in = [](std::string_view version) {
    return run({.name = "passthru",
                .env = standard_env("ADD"),
                .text = cat(R"({"name":"n","cniVersion":")", version,
                            R"(","prevResult":{"cniVersion":"1.1.0","ips":[]}})")});
  };
  for (const char* version : {"0.1.0", "0.3.1", "0.4.0", "1.1.0"}) {
    EXPECT_EQ(add_in(version).exit, 0);
    EXPECT_EQ(add_in(version).out, cat("{\n    \"cniVersion\": \"", version, "\"\n}"));
  }
  EXPECT_EQ(add_in("").out, "{\n    \"cniVersion\": \"0.1.0\"\n}");
}

TEST(Passthru, DoesNothingElse) {
  for (const char* command : {"DEL", "CHECK", "GC", "STATUS"}) {
    const Finished finished =
        run({.name = "passthru", .env = standard_env(command), .text = std::string(kStdin)});

    EXPECT_EQ(finished.exit, 0) << command;
    EXPECT_EQ(finished.out, "") << command;
  }
  EXPECT_EQ(run({.name = "passthru", .env = {"CNI_COMMAND=VERSION"}}).out, kVersions);
  EXPECT_THAT(run({.name = "passthru"}).err, StartsWith("Passthrough CNI Plugin v1.0\n"));
  EXPECT_EQ(run({.name = "passthru",
                 .env = standard_env("CHECK"),
                 .text = R"({"name":"n","cniVersion":"0.3.1"})"})
                .error()
                .code,
            1u);
}

}  // namespace
}  // namespace mnet::test
