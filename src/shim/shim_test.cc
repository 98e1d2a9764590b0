// The shim against a scripted daemon on a real socket, with limits short enough for a test.
#include "shim/shim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "cni/error.h"
#include "cni/result.h"
#include "cni/version.h"
#include "json/json.h"
#include "shim/connection.h"
#include "shim/daemon.h"
#include "shim/fake_daemon.h"
#include "sys/fd.h"
#include "sys/file.h"
#include "sys/test_dir.h"
#include "wire/wire.h"

namespace mnet::shim {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr std::string_view kResult =
    R"({"Result":{"cniVersion":"1.1.0","interfaces":[{"mac":"m","mtu":9000,"name":"eth0",)"
    R"("sandbox":"/n"}],"ips":[{"address":"10.1.1.5/24","gateway":"10.1.1.1","interface":0},)"
    R"({"address":"fd00::5/64"}],"routes":[{"dst":"0.0.0.0/0","mtu":1400}]}})";

Limits short_limits() {
  return {.reach_add = milliseconds(60),
          .reach_gc = milliseconds(60),
          .reach_del = milliseconds(60),
          .one_check = milliseconds(20),
          .between_checks = milliseconds(5),
          .whole_add = milliseconds(150),
          .whole_del = milliseconds(150),
          .whole_status = milliseconds(150)};
}

// Where only the answers matter, no limit may come near a loaded machine.
Limits long_limits() { return {}; }

class Shim : public testing::Test {
 protected:
  struct Outcome {
    int exit = -1;
    std::string out, err;
    milliseconds took{};

    ErrorObject error() const {
      const auto document = json::parse(out);
      EXPECT_TRUE(document.has_value()) << out;
      return document ? *cni::parse_error_object(*document) : ErrorObject{};
    }
  };

  // A configuration with the members of `more`, `"key":value,` each.
  std::string config(std::string_view more = "", std::string_view version = "1.1.0") const {
    return cat("{", more, R"("name":"n","logLevel":"debug","logFile":")", dir_ / "log",
               R"(","cniVersion":")", version, R"(","daemonSocketDir":")", dir_.path(),
               R"(","cniDir":")", dir_ / "cni", R"("})");
  }

  Outcome run(std::string_view command, const std::string& text, const Limits& limits,
              const std::map<std::string, std::string, std::less<>>& more = {}) const {
    std::map<std::string, std::string, std::less<>> env = {{"CNI_COMMAND", std::string(command)},
                                                           {"CNI_CONTAINERID", "c0ffee"},
                                                           {"CNI_NETNS", "/no/such/netns"},
                                                           {"CNI_IFNAME", "eth0"},
                                                           {"CNI_ARGS", "K8S_POD_NAME=p"},
                                                           {"CNI_PATH", "/opt/cni/bin"},
                                                           {"HOME", "/root"}};
    env.insert(more.begin(), more.end());
    std::vector<std::string> entries;
    for (const auto& [name, value] : env) entries.push_back(cat(name, "=", value));
    std::vector<const char*> environment;
    for (const std::string& entry : entries) environment.push_back(entry.c_str());
    environment.push_back(nullptr);

    Outcome outcome;
    const Surroundings surroundings{
        .front = {.env = [&](std::string_view name) -> std::optional<std::string> {
                    const auto found = env.find(name);
                    if (found == env.end()) return std::nullopt;
                    return found->second;
                  },
                  .read_stdin = [&]() -> Result<std::string> { return text; },
                  .write_stdout = [&](std::string_view bytes) -> Result<void> {
                    outcome.out += bytes;
                    return {};
                  },
                  .write_stderr = [&](std::string_view bytes) { outcome.err += bytes; }},
        .environment = environment.data(),
        .random = [] { return std::uint64_t{0xabc}; },
        .limits = limits};
    const auto start = Clock::now();
    outcome.exit = shim::run(surroundings);
    outcome.took = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
    return outcome;
  }

  std::string socket() const { return dir_ / "multus.sock"; }
  std::string record_path() const { return dir_ / "cni/pending-del/c0ffee-eth0.json"; }
  std::optional<std::string> record() const { return *sys::find_file(record_path()); }
  std::string log() const { return sys::find_file(dir_ / "log")->value_or(""); }

  // What an ADD prints when /cni is answered so.
  Outcome add_answered(Reply reply, std::string_view version = "1.1.0") {
    const FakeDaemon daemon(socket(), {{"/cni", {std::move(reply)}}});
    Outcome outcome = run("ADD", config("", version), long_limits());
    ::unlink(socket().c_str());
    return outcome;
  }

  sys::TestDir dir_;
};

// 3.4: what is sent, byte for byte.
TEST_F(Shim, PostsANullProbeAndThenTheRequest) {
  const FakeDaemon daemon(socket(), {{"/cni", {{.bytes = http(200, kResult)}}}});

  const Outcome outcome =
      run("ADD", R"({"name":"n","daemonSocketDir":")" + dir_.path() + R"(","cniVersion":"1.1.0"})",
          long_limits());

  EXPECT_EQ(outcome.exit, 0) << outcome.out;
  ASSERT_THAT(daemon.seen("/readyz"), SizeIs(1));
  EXPECT_EQ(daemon.seen("/readyz")[0].head,
            "POST /readyz HTTP/1.1\r\nHost: dummy\r\nContent-Type: application/json\r\n"
            "Content-Length: 4\r\nX-Request-Id: 0000000000000abc\r\n"
            "Connection: keep-alive\r\n\r\n");
  EXPECT_EQ(daemon.seen("/readyz")[0].body, "null");
  ASSERT_THAT(daemon.seen("/cni"), SizeIs(1));
  EXPECT_THAT(daemon.seen("/cni")[0].head, HasSubstr("X-Request-Id: 0000000000000abc\r\n"));
  EXPECT_THAT(daemon.seen("/cni")[0].head, HasSubstr("\r\nConnection: close\r\n"));
  const auto sent = wire::parse_request(daemon.seen("/cni")[0].body);
  ASSERT_TRUE(sent.has_value());
  EXPECT_EQ(*sent->find_env("CNI_COMMAND"), "ADD");
  EXPECT_EQ(sent->find_env("HOME"), nullptr);
  EXPECT_THAT(sent->config, StartsWith(R"({"name":"n","daemonSocketDir":)"));
}

// As our daemon and Go's server answer. A daemon that closes is connected to again.
TEST_F(Shim, SendsTheRequestOnTheConnectionOfTheProbeIfTheDaemonKeepsIt) {
  struct Case {
    std::string answer;
    int connections;
  };
  const Case cases[] = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n", 1},
      {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 1},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 1},
      {http(200, ""), 2},
      {"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", 2},
  };
  for (const auto& [answer, connections] : cases) {
    const FakeDaemon daemon(
        socket(), {{"/readyz", {{.bytes = answer}}}, {"/cni", {{.bytes = http(200, kResult)}}}});

    EXPECT_EQ(run("ADD", config(), long_limits()).exit, 0) << answer;

    EXPECT_EQ(daemon.connections(), connections) << answer;
    ::unlink(socket().c_str());
  }
}

TEST_F(Shim, ConnectsAgainIfTheDaemonSaysMoreThanItsAnswer) {
  const FakeDaemon daemon(
      socket(), {{"/readyz", {{.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nrubbish"}}},
                 {"/cni", {{.bytes = http(200, kResult)}}}});

  EXPECT_EQ(run("ADD", config(), long_limits()).exit, 0);

  EXPECT_THAT(daemon.seen("/cni"), SizeIs(1));
}

// 02, 3.3: neither daemon nor files are touched at the word of a tenant's text.
TEST_F(Shim, DoesNothingForADelegateOfMultus) {
  const FakeDaemon daemon(socket(), {{"/cni", {{.bytes = http(200, kResult)}}}});

  for (const char* command : {"ADD", "CHECK", "GC", "STATUS"}) {
    const Outcome outcome =
        run(command, config(), long_limits(), {{"MULTUS_REQUEST_ID", "0000000000000abc"}});
    EXPECT_EQ(outcome.error().code, 7u) << command;
  }
  EXPECT_EQ(run("DEL", config(), long_limits(), {{"MULTUS_REQUEST_ID", "x"}}).exit, 0);
  EXPECT_THAT(daemon.seen("/readyz"), IsEmpty());
  EXPECT_EQ(record(), std::nullopt);
  EXPECT_EQ(sys::find_file(dir_ / "log")->has_value(), false);
}

// 03, 12: row 88.
TEST_F(Shim, PrintsTheResultInTheVersionAskedFor) {
  const auto document = json::parse_object(kResult);
  const auto result = cni::read_result(*document->find("Result"));

  for (const std::string& version : cni::all_versions()) {
    const Outcome outcome = add_answered({.bytes = http(200, kResult)}, version);

    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.out,
              json::dump(cni::to_json(*cni::convert(*result, version)), json::kPretty));
  }
  EXPECT_EQ(add_answered({.bytes = http(200, kResult)}, "0.2.0").out,
            "{\n    \"cniVersion\": \"0.2.0\",\n    \"ip4\": {\n        \"ip\": \"10.1.1.5/24\",\n"
            "        \"gateway\": \"10.1.1.1\",\n        \"routes\": [\n            {\n"
            "                \"dst\": \"0.0.0.0/0\"\n            }\n        ]\n    },\n"
            "    \"ip6\": {\n        \"ip\": \"fd00::5/64\"\n    },\n    \"dns\": {}\n}");
  EXPECT_EQ(add_answered({.bytes = http(200, R"({"Result":{"cniVersion":"1.1.0"}})")}, "0.2.0")
                .error()
                .msg,
            "cannot convert: no valid IP addresses");
}

// 03, 12: row 87.
TEST_F(Shim, NeedsAResultFromAnAdd) {
  for (const char* body : {"", "{}", R"({"Result":null})"}) {
    const Outcome outcome = add_answered({.bytes = http(200, body)});

    EXPECT_EQ(outcome.exit, 1);
    EXPECT_EQ(outcome.error(), (ErrorObject{999, "CmdAdd (shim): daemon returned no result", ""}));
  }
  EXPECT_EQ(add_answered({.bytes = http(200, R"({"result":{"cniVersion":"1.0.0"}})")}).exit, 0);
  EXPECT_THAT(add_answered({.bytes = http(200, "<html>")}).error().msg,
              StartsWith("CmdAdd (shim): failed to unmarshal response '<html>': "));
}

// 03, 12: row 89.
TEST_F(Shim, PassesErrorsOnWithCodeAndDetails) {
  EXPECT_EQ(add_answered({.bytes = http(400, R"({"code":11,"msg":"busy","details":"d"})")}).error(),
            (ErrorObject{11, "CmdAdd (shim): busy", "d"}));
  for (const char* body : {R"({"code":11})", "text\n", "<html></html>"}) {
    EXPECT_EQ(
        add_answered({.bytes = http(400, body)}).error(),
        (ErrorObject{999, cat("CmdAdd (shim): CNI request failed with status 400: '", body, "'"),
                     ""}));
  }
}

// 03, 12: row 90.
TEST_F(Shim, ReadsAChunkedAnswerInSmallPieces) {
  std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char c : kResult) chunked += cat("1\r\n", c, "\r\n");
  chunked += "0\r\n\r\n";

  const Outcome outcome = add_answered({.bytes = chunked, .piece = 1});

  EXPECT_EQ(outcome.exit, 0) << outcome.out;
  EXPECT_EQ(outcome.out, add_answered({.bytes = http(200, kResult)}).out);
}

TEST_F(Shim, SaysWhereTheConnectionBroke) {
  EXPECT_EQ(
      add_answered({}).error(),
      (ErrorObject{999, "CmdAdd (shim): failed to send CNI request: Post \"http://dummy/cni\": EOF",
                   ""}));
  EXPECT_EQ(add_answered({.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{"}).error(),
            (ErrorObject{999, "CmdAdd (shim): failed to read CNI result: unexpected EOF", ""}));
  EXPECT_EQ(add_answered({.bytes = "garbage\r\n\r\n"}).error().msg,
            "CmdAdd (shim): failed to send CNI request: Post \"http://dummy/cni\": "
            "malformed HTTP response \"garbage\"");
}

// 3.3: not even a broken exchange may be repeated.
TEST_F(Shim, NeverSendsARequestTwice) {
  for (const char* command : {"ADD", "CHECK", "DEL", "GC", "STATUS"}) {
    const FakeDaemon daemon(socket(), {{"/cni", {Reply{}}}});

    run(command, config(), long_limits());

    EXPECT_THAT(daemon.seen("/cni"), SizeIs(1)) << command;
    ::unlink(socket().c_str());
  }
}

// A body that is refused before it was read: closing resets the connection, the answer counts.
TEST_F(Shim, ReadsAnAnswerThatCameBeforeTheBodyWasSent) {
  const FakeDaemon daemon(
      socket(),
      {{"/cni", {{.bytes = http(413, "request body too large"), .is_body_read = false}}}});
  const std::string large = config(cat(R"("x":")", std::string(4 << 20, 'x'), R"(",)"));

  EXPECT_EQ(run("ADD", large, long_limits()).error().msg,
            "CmdAdd (shim): CNI request failed with status 413: 'request body too large'");
}

TEST_F(Shim, PrintsNothingForTheOtherCommands) {
  for (const char* command : {"CHECK", "GC", "STATUS", "DEL"}) {
    const FakeDaemon daemon(socket(),
                            {{"/cni", {{.bytes = http(200, "")}, {.bytes = http(200, "{}")}}}});

    for (int i = 0; i < 2; ++i) {
      const Outcome outcome = run(command, config(), long_limits());
      EXPECT_EQ(outcome.exit, 0) << command << outcome.out;
      EXPECT_EQ(outcome.out, "");
    }
    ::unlink(socket().c_str());
  }
}

TEST_F(Shim, RefusesAnAnswerItCannotReadExceptForDel) {
  const FakeDaemon daemon(socket(), {{"/cni", {{.bytes = http(200, "garbage")}}}});

  for (const auto& [command, name] : {std::pair{"CHECK", "CmdCheck"}, std::pair{"GC", "CmdGC"},
                                      std::pair{"STATUS", "CmdStatus"}}) {
    EXPECT_THAT(run(command, config(), long_limits()).error().msg,
                StartsWith(cat(name, " (shim): failed to unmarshal response 'garbage': ")));
  }
  EXPECT_EQ(run("DEL", config(), long_limits()).exit, 0);
  EXPECT_EQ(record(), std::nullopt);
}

// 03, 12: row 83.
TEST_F(Shim, GivesUpOnADaemonThatIsNotThereAndSaysWhy) {
  const std::string cause = cat(
      "failed to send CNI request: Post \"http://dummy/readyz\": dial unix ", socket(),
      ": connect: no such file or directory; multus-daemon does not run on this node: look at its "
      "pod (kubectl -n kube-system get pods -l app=multus -o wide)");
  for (const auto& [command, name] :
       {std::pair{"ADD", "CmdAdd"}, std::pair{"CHECK", "CmdCheck"}, std::pair{"GC", "CmdGC"}}) {
    const Outcome outcome = run(command, config(), short_limits());

    EXPECT_EQ(outcome.exit, 1);
    EXPECT_EQ(
        outcome.error(),
        (ErrorObject{11, cat(name, " (shim): timed out waiting for the condition: ", cause), ""}));
    EXPECT_GE(outcome.took, milliseconds(40));
  }
}

// 03, 12: row 86.
TEST_F(Shim, CallsADaemonThatIsNotThereNotAvailableOnStatus) {
  const Outcome outcome = run("STATUS", config(), short_limits());

  EXPECT_EQ(outcome.error().code, 50u);
  EXPECT_THAT(outcome.error().msg, AllOf(StartsWith("multus daemon is not available: "),
                                         HasSubstr("no such file or directory; multus-daemon "
                                                   "does not run on this node")));
}

TEST_F(Shim, WaitsUntilTheDaemonIsReady) {
  const FakeDaemon daemon(
      socket(),
      {{"/readyz", {{.bytes = http(500, "")}, {}, {.bytes = "junk\n"}, {.bytes = http(200, "")}}},
       {"/cni", {{.bytes = http(200, kResult)}}}});

  EXPECT_EQ(run("ADD", config(), long_limits()).exit, 0);
  EXPECT_THAT(daemon.seen("/readyz"), SizeIs(4));
  EXPECT_THAT(daemon.seen("/cni"), SizeIs(1));
}

TEST_F(Shim, ReportsWhatTheDaemonSaidWhenItNeverGotReady) {
  const FakeDaemon daemon(socket(), {{"/readyz", {{.bytes = http(500, "")}}}});
  Limits limits = long_limits();
  limits.reach_add = milliseconds(2000);
  limits.between_checks = std::chrono::hours(1);  // none is cut off in the middle

  EXPECT_EQ(run("ADD", config(), limits).error().msg,
            "CmdAdd (shim): timed out waiting for the condition: "
            "CNI request failed with status 500: ''");
  EXPECT_THAT(daemon.seen("/cni"), IsEmpty());
}

// 03, 3.7 row 2: daemons up to v4.3.0 know no /readyz, those of v4.0 no POST.
TEST_F(Shim, AsksAnOlderDaemonForItsHealth) {
  for (const int status : {200, 405}) {
    const FakeDaemon daemon(socket(), {{"/readyz", {{.bytes = http(404, "")}}},
                                       {"/healthz", {{.bytes = http(status, "")}}},
                                       {"/cni", {{.bytes = http(200, kResult)}}}});

    EXPECT_EQ(run("ADD", config(), long_limits()).exit, 0);
    EXPECT_THAT(daemon.seen("/readyz"), SizeIs(1));
    EXPECT_THAT(daemon.seen("/healthz"), SizeIs(1));
    ::unlink(socket().c_str());
  }
  const FakeDaemon broken(socket(), {{"/readyz", {{.bytes = http(404, "")}}},
                                     {"/healthz", {{.bytes = http(500, "")}}}});
  EXPECT_EQ(run("ADD", config(), short_limits()).error().code, 11u);
}

// 03, 12: row 84.
TEST_F(Shim, DoesNotWaitForACheckForEver) {
  const FakeDaemon daemon(socket(), {{"/readyz", {{.bytes = "", .is_kept_open = true}}}});

  const Outcome outcome = run("ADD", config(), short_limits());

  EXPECT_EQ(outcome.error(),
            (ErrorObject{11,
                         "CmdAdd (shim): timed out waiting for the condition: failed to send CNI "
                         "request: Post \"http://dummy/readyz\": context deadline exceeded",
                         ""}));
  EXPECT_LT(outcome.took, milliseconds(5000));
}

// 03, 12: row 84.
TEST_F(Shim, DoesNotWaitForAnAnswerForEver) {
  const FakeDaemon daemon(socket(), {{"/cni", {{.bytes = "", .is_kept_open = true}}}});
  Limits limits = long_limits();
  limits.whole_add = limits.whole_status = milliseconds(2000);

  for (const auto& [command, name] : {std::pair{"ADD", "CmdAdd"}, std::pair{"CHECK", "CmdCheck"}}) {
    EXPECT_EQ(run(command, config(), limits).error(),
              (ErrorObject{11,
                           cat(name,
                               " (shim): failed to send CNI request: Post "
                               "\"http://dummy/cni\": context deadline exceeded"),
                           ""}));
  }
  EXPECT_EQ(run("STATUS", config(), limits).error(),
            (ErrorObject{50,
                         "multus daemon is not available: failed to send CNI request: Post "
                         "\"http://dummy/cni\": context deadline exceeded",
                         ""}));
}

TEST_F(Shim, EndsInTheMiddleOfAnAnswerThatDoesNotEnd) {
  const FakeDaemon daemon(
      socket(),
      {{"/cni",
        {{.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", .is_kept_open = true}}}});
  Limits limits = long_limits();
  limits.whole_add = milliseconds(2000);

  EXPECT_EQ(
      run("ADD", config(), limits).error(),
      (ErrorObject{11, "CmdAdd (shim): failed to read CNI result: context deadline exceeded", ""}));
}

// 03, 12: row 84: shimTimeout replaces the times of ADD, CHECK and DEL and only lowers that of
// STATUS.
TEST_F(Shim, ObeysItsConfiguredTimeout) {
  const FakeDaemon daemon(socket(), {{"/cni", {{.bytes = "", .is_kept_open = true}}}});
  Limits limits = long_limits();
  limits.whole_status = milliseconds(150);

  const std::string soon = config(R"("shimTimeout":0.1,)");
  EXPECT_EQ(run("ADD", soon, limits).error().code, 11u);
  EXPECT_EQ(run("STATUS", soon, limits).error().code, 50u);
  EXPECT_EQ(run("DEL", soon, limits).exit, 0);
  EXPECT_NE(record(), std::nullopt);
  EXPECT_EQ(run("STATUS", config(R"("shimTimeout":3600,)"), limits).error().code, 50u);
}

TEST_F(Shim, WaitsForTheAnswerToGcAsLongAsTheWorkTakes) {
  const FakeDaemon daemon(socket(), {{"/cni", {{.bytes = http(200, ""), .delay_ms = 3000}}}});
  Limits limits = long_limits();
  limits.whole_status = milliseconds(2000);

  EXPECT_EQ(run("GC", config(), limits).exit, 0);
}

// 00-index: a draining daemon is not ready, but still serves a DEL.
TEST_F(Shim, SendsADelToADaemonThatDrains) {
  const FakeDaemon daemon(
      socket(), {{"/readyz", {{.bytes = http(500, "")}}}, {"/cni", {{.bytes = http(200, "")}}}});

  EXPECT_EQ(run("DEL", config(), long_limits()).exit, 0);
  EXPECT_THAT(daemon.seen("/readyz"), IsEmpty());
  EXPECT_THAT(daemon.seen("/healthz"), SizeIs(1));
  EXPECT_THAT(daemon.seen("/cni"), SizeIs(1));
  EXPECT_EQ(record(), std::nullopt);
}

// 03, 12: rows 85 and 159: what was meant for /cni, whole, for root's eyes only.
TEST_F(Shim, RecordsADelThatReachedNoDaemon) {
  const Outcome outcome = run("DEL", config(), short_limits());

  EXPECT_EQ(outcome.exit, 0);
  EXPECT_EQ(outcome.out, "");
  ASSERT_NE(record(), std::nullopt);
  const auto recorded = wire::parse_request(*record());
  ASSERT_TRUE(recorded.has_value());
  EXPECT_EQ(*recorded->find_env("CNI_COMMAND"), "DEL");
  EXPECT_EQ(*recorded->find_env("CNI_CONTAINERID"), "c0ffee");
  EXPECT_EQ(recorded->config, config());
  struct stat file{}, directory{};
  ASSERT_EQ(::stat(record_path().c_str(), &file), 0);
  ASSERT_EQ(::stat((dir_ / "cni/pending-del").c_str(), &directory), 0);
  EXPECT_EQ(file.st_mode & 07777, 0600u);
  EXPECT_EQ(directory.st_mode & 07777, 0700u);
  EXPECT_THAT(*sys::list_directory(dir_ / "cni/pending-del"), SizeIs(1));
  EXPECT_THAT(log(), HasSubstr(cat("[error] CmdDel (shim): CheckAPIReadyNow: Daemon not reachable "
                                   "over socketfile: failed to send CNI request: Post "
                                   "\"http://dummy/healthz\": dial unix ",
                                   socket(), ": connect: no such file or directory")));
}

// The body is the same whether it is sent or recorded.
TEST_F(Shim, RecordsExactlyTheBodyOfTheRequest) {
  std::string sent;
  {
    const FakeDaemon daemon(socket(), {{"/cni", {Reply{}}}});
    run("DEL", config(), long_limits());
    sent = daemon.seen("/cni").at(0).body;
  }

  EXPECT_EQ(record(), sent);
}

TEST_F(Shim, ReplacesAnOlderRecord) {
  dir_.write("cni/pending-del/c0ffee-eth0.json", "old", 0644);

  run("DEL", config(), short_limits());

  EXPECT_THAT(record().value_or(""), StartsWith(R"({"env":)"));
}

// 03, 12: row 85.
TEST_F(Shim, RecordsADelWhoseSocketRefuses) {
  {
    const FakeDaemon gone(socket());  // leaves the name behind
  }

  EXPECT_EQ(run("DEL", config(), short_limits()).exit, 0);
  EXPECT_NE(record(), std::nullopt);
  EXPECT_THAT(log(), HasSubstr("connect: connection refused"));
}

// 03, 12: row 85.
TEST_F(Shim, RecordsADelThatGotNoCompleteAnswer) {
  for (const Reply& reply :
       {Reply{}, Reply{.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"},
        Reply{.bytes = "not HTTP\r\n"}}) {
    const FakeDaemon daemon(socket(), {{"/cni", {reply}}});

    EXPECT_EQ(run("DEL", config(), long_limits()).exit, 0);
    EXPECT_NE(record(), std::nullopt) << reply.bytes;
    ::unlink(socket().c_str());
    ::unlink(record_path().c_str());
  }
}

TEST_F(Shim, RecordsADelOfADaemonThatHangs) {
  const FakeDaemon daemon(socket(), {{"/healthz", {{.bytes = "", .is_kept_open = true}}}});

  EXPECT_EQ(run("DEL", config(), short_limits()).exit, 0);
  EXPECT_NE(record(), std::nullopt);
}

// 03, 12: row 85: a defect, a body that is too large or that came too slowly. Nothing was deleted.
TEST_F(Shim, RecordsADelThatTheDaemonDidNotCarryOut) {
  for (const int status : {404, 408, 413, 500, 503}) {
    const FakeDaemon daemon(socket(), {{"/cni", {{.bytes = http(status, "internal error")}}}});

    EXPECT_EQ(run("DEL", config(), long_limits()).exit, 0);
    EXPECT_NE(record(), std::nullopt) << status;
    ::unlink(socket().c_str());
    ::unlink(record_path().c_str());
  }
  EXPECT_THAT(log(), HasSubstr("CNI request failed with status 500: 'internal error'"));
}

// 03, 12: row 85: answered is answered.
TEST_F(Shim, TurnsEveryAnswerToADelIntoSuccessExceptTryAgain) {
  for (const std::string& reply :
       {http(400, "text"), http(200, "garbage"), http(400, R"({"code":50,"msg":"m"})"),
        http(400, R"({"code":999,"msg":"m"})")}) {
    const FakeDaemon daemon(socket(), {{"/cni", {{.bytes = reply}}}});

    const Outcome outcome = run("DEL", config(), long_limits());

    EXPECT_EQ(outcome.exit, 0) << reply;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(record(), std::nullopt);
    ::unlink(socket().c_str());
  }
  EXPECT_THAT(log(),
              HasSubstr("[error] CmdDel (shim): CNI request failed with status 400: 'text'"));

  const FakeDaemon daemon(
      socket(), {{"/cni", {{.bytes = http(400, R"({"code":11,"msg":"again","details":"d"})")}}}});
  const Outcome outcome = run("DEL", config(), long_limits());
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_EQ(outcome.error(), (ErrorObject{11, "CmdDel (shim): again", "d"}));
  EXPECT_EQ(record(), std::nullopt);
}

// A daemon that answers at all is alive, whatever it says about its health.
TEST_F(Shim, SendsADelToADaemonThatRefusesTheProbe) {
  for (const int status : {400, 404, 405, 500}) {
    const FakeDaemon daemon(socket(), {{"/healthz", {{.bytes = http(status, "")}}},
                                       {"/cni", {{.bytes = http(200, "")}}}});

    EXPECT_EQ(run("DEL", config(), long_limits()).exit, 0);
    EXPECT_THAT(daemon.seen("/cni"), SizeIs(1)) << status;
    ::unlink(socket().c_str());
  }
  EXPECT_EQ(record(), std::nullopt);
}

// 03, 12: row 164.
TEST_F(Shim, AsksForAnotherTryWhenADelCannotEvenBeRecorded) {
  dir_.write("cni", "a file where the directory should be");

  const Outcome outcome = run("DEL", config(), short_limits());

  EXPECT_EQ(outcome.exit, 1);
  EXPECT_EQ(outcome.error().code, 11u);
  EXPECT_THAT(outcome.error().msg,
              AllOf(StartsWith("CmdDel (shim): CheckAPIReadyNow: Daemon not reachable"),
                    HasSubstr("cannot record the DEL: "), HasSubstr("not a directory")));
}

// A connect that waits for room in the backlog must end too.
TEST_F(Shim, DoesNotWaitForAFullBacklogForEver) {
  const sys::UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket().data(), socket().size());
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener.get(), 0), 0);
  std::vector<sys::UniqueFd> waiting;
  for (;;) {
    waiting.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (::connect(waiting.back().get(), reinterpret_cast<sockaddr*>(&address), sizeof address) !=
        0) {
      break;
    }
  }

  const Outcome outcome = run("ADD", config(), short_limits());

  EXPECT_EQ(outcome.error().code, 11u);
  EXPECT_THAT(outcome.error().msg, HasSubstr("connect: context deadline exceeded"));
}

TEST_F(Shim, RefusesAConfigurationOfTheWrongType) {
  const std::string bad =
      R"({"name":"n","cniVersion":"1.1.0","daemonSocketDir":5,"logLevel":"error",)"
      R"("logFile":")" +
      (dir_ / "log") + R"("})";
  const std::string text = "invalid CNI configuration passed to multus-shim: ";
  for (const auto& [command, name] : {std::pair{"ADD", "CmdAdd"}, std::pair{"CHECK", "CmdCheck"},
                                      std::pair{"GC", "CmdGC"}, std::pair{"STATUS", "CmdStatus"}}) {
    const Outcome outcome = run(command, bad, short_limits());

    EXPECT_EQ(outcome.error().code, 999u);
    EXPECT_THAT(outcome.error().msg, StartsWith(cat(name, " (shim): ", text)));
  }
}

// A DEL that was answered as done without the daemon would never be carried out.
TEST_F(Shim, SendsADelWhoseConfigurationHasAKeyOfTheWrongType) {
  const FakeDaemon daemon(socket(), {{"/cni", {{.bytes = http(200, "")}}}});

  EXPECT_EQ(run("DEL", config(R"("logToStderr":"x",)"), long_limits()).exit, 0);

  EXPECT_EQ(daemon.seen("/cni").size(), 1u);
  EXPECT_THAT(log(), HasSubstr("[error] CmdDel (shim): ignored: logToStderr: "));
}

TEST_F(Shim, LogsNewKeysThatItCannotUse) {
  const FakeDaemon daemon(socket(), {{"/cni", {{.bytes = http(200, kResult)}}}});

  EXPECT_EQ(run("ADD", config(R"("shimTimeout":"x",)"), long_limits()).exit, 0);
  EXPECT_THAT(log(), HasSubstr("[error] CmdAdd (shim): ignored: shimTimeout: "));
}

TEST_F(Shim, LogsTheResultAndEndsItsLinesInTheRequestId) {
  const FakeDaemon daemon(socket(), {{"/cni", {{.bytes = http(200, kResult)}}}});

  run("ADD", config(), long_limits());

  EXPECT_THAT(log(), AllOf(HasSubstr(R"([verbose] CmdAdd (shim): {"cniVersion":"1.1.0")"),
                           EndsWith(" request=0000000000000abc\n")));
}

// 03-F34: what is in stdin may be secret and huge.
TEST_F(Shim, ShowsItsStdinOnlyInTheDebugLog) {
  const Outcome outcome = run("ADD", config(R"("mark":"of-stdin",)"), short_limits());

  EXPECT_THAT(outcome.out, Not(HasSubstr("of-stdin")));
  EXPECT_THAT(log(), HasSubstr("of-stdin"));
  for (const std::string_view line : split(log(), '\n')) {
    if (line.contains("of-stdin")) EXPECT_THAT(std::string(line), HasSubstr("[debug]"));
  }
}

// 03, 12: row 93.
TEST_F(Shim, SucceedsWithoutItsLog) {
  const FakeDaemon daemon(socket(), {{"/cni", {{.bytes = http(200, kResult)}}}});
  const std::string text = R"({"name":"n","cniVersion":"1.1.0","logLevel":"nonsense","logFile":")" +
                           (dir_ / "missing/dir/log") + R"(","daemonSocketDir":")" + dir_.path() +
                           R"("})";

  const Outcome outcome = run("ADD", text, long_limits());

  EXPECT_EQ(outcome.exit, 0);
  EXPECT_EQ(outcome.err, "multus logging: cannot set logging level to nonsense\n");
}

}  // namespace
}  // namespace mnet::shim
