#include "skel/skel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <new>
#include <optional>
#include <ostream>
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

namespace mnet::skel {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Environment = std::map<std::string, std::string, std::less<>>;

constexpr std::string_view kStdin = R"({"name":"n","cniVersion":"1.1.0"})";
constexpr std::string_view kOwnNetns = "/proc/thread-self/ns/net";

Environment standard(std::string_view command) {
  return {{"CNI_COMMAND", std::string(command)},
          {"CNI_CONTAINERID", "c"},
          {"CNI_NETNS", "/no/such/netns"},
          {"CNI_IFNAME", "eth0"},
          {"CNI_PATH", "/opt/cni/bin"}};
}

Environment with(Environment env, const Environment& changes) {
  for (const auto& [name, value] : changes) env[name] = value;
  return env;
}

Environment without(Environment env, std::string_view name) {
  env.erase(env.find(name));
  return env;
}

// A plugin whose handlers note that they ran.
struct Outcome {
  int exit = -1;
  std::string out, err, called;
  CmdArgs args;

  ErrorObject error() const {
    const auto document = json::parse(out);
    EXPECT_TRUE(document.has_value()) << out;
    return document ? *cni::parse_error_object(*document) : ErrorObject{};
  }
};

struct Setup {
  Environment env{};
  std::string text = std::string(kStdin);
  std::vector<std::string> versions = cni::all_versions();
  std::string about{};
  std::string own_mark{};
  std::optional<Error> handler_error{};
  bool has_gc = true;
  bool is_stdin_broken = false;
  bool is_stdout_broken = false;
};

Outcome run_plugin(const Setup& setup) {
  Outcome run;
  const auto handler = [&](const std::string& name) -> Handler {
    return [&run, &setup, name](const CmdArgs& args) -> Result<void> {
      run.called = name;
      run.args = args;
      if (setup.handler_error) return *setup.handler_error;
      return {};
    };
  };
  Plugin plugin{.add = handler("ADD"),
                .del = handler("DEL"),
                .check = handler("CHECK"),
                .gc = setup.has_gc ? handler("GC") : Handler(),
                .status = handler("STATUS"),
                .versions = setup.versions,
                .about = setup.about,
                .own_mark = setup.own_mark};
  const Front front{
      .env = [&](std::string_view name) -> std::optional<std::string> {
        const auto found = setup.env.find(name);
        if (found == setup.env.end()) return std::nullopt;
        return found->second;
      },
      .read_stdin = [&]() -> Result<std::string> {
        if (setup.is_stdin_broken) return Error(Errc::kIo, "read /dev/stdin: is a directory");
        return setup.text;
      },
      .write_stdout = [&](std::string_view text) -> Result<void> {
        if (setup.is_stdout_broken) return Error(Errc::kIo, "write /dev/stdout: broken pipe");
        run.out += text;
        return {};
      },
      .write_stderr = [&](std::string_view text) { run.err += text; },
  };
  run.exit = skel::run(plugin, front);
  return run;
}

// The expected outcome: a handler that ran, or an error.
struct Case {
  std::string row;
  Setup setup;
  std::string called;
  ErrorObject error;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.row; }

class Skel : public testing::TestWithParam<Case> {};

TEST_P(Skel, RunsTheHandlerOrRefuses) {
  const Case& c = GetParam();

  const Outcome run = run_plugin(c.setup);

  EXPECT_EQ(run.called, c.called);
  if (c.error == ErrorObject{}) {
    EXPECT_EQ(run.exit, 0);
    EXPECT_EQ(run.out, "");
    return;
  }
  EXPECT_EQ(run.exit, 1);
  EXPECT_EQ(run.error().code, c.error.code);
  EXPECT_EQ(run.error().details, c.error.details);
  // A tail that comes from a library is not compared.
  if (c.error.msg.ends_with("…")) {
    EXPECT_THAT(run.error().msg, StartsWith(c.error.msg.substr(0, c.error.msg.size() - 3)));
  } else {
    EXPECT_EQ(run.error().msg, c.error.msg);
  }
}

ErrorObject missing(std::string_view names) {
  return {4, cat("required env variables [", names, "] missing"), ""};
}

Setup add_with(std::string_view name, std::string_view value) {
  return {.env = with(standard("ADD"), {{std::string(name), std::string(value)}})};
}

Setup add_of(std::string_view text) { return {.env = standard("ADD"), .text = std::string(text)}; }

Setup versioned(std::string_view command, std::string_view version,
                std::vector<std::string> supported = cni::all_versions()) {
  return {.env = standard(command),
          .text = cat(R"({"name":"n","cniVersion":")", version, R"("})"),
          .versions = std::move(supported)};
}

constexpr std::string_view kBadIfname = "interface name contains / or : or whitespace characters";
const ErrorObject kLongIfname{4, "interface name is too long",
                              "interface name should be less than 16 characters"};

ErrorObject bad_id(std::string_view id) {
  return {4, "invalid characters in containerID", std::string(id)};
}

// Which variables are needed and checked.
INSTANTIATE_TEST_SUITE_P(
    Environment, Skel,
    testing::Values(
        Case{"P2", {}, "", missing("CNI_COMMAND")},
        Case{"P3",
             {.env = {{"CNI_COMMAND", "ADD"}}},
             "",
             missing("CNI_CONTAINERID,CNI_NETNS,CNI_IFNAME,CNI_PATH")},
        Case{"P4", add_with("CNI_NETNS", ""), "", missing("CNI_NETNS")},
        Case{"P5",
             {.env = without(with(standard("ADD"), {{"CNI_IFNAME", "a/b"}}), "CNI_NETNS")},
             "",
             {4, std::string(kBadIfname), ""}},
        Case{"P6", {.env = without(standard("DEL"), "CNI_NETNS")}, "DEL", {}},
        Case{"P7", {.env = without(standard("DEL"), "CNI_PATH")}, "", missing("CNI_PATH")},
        Case{"P8", add_with("CNI_CONTAINERID", "some-%%id"), "", bad_id("some-%%id")},
        Case{"P9", add_with("CNI_CONTAINERID", "c\n"), "", bad_id("c\n")},
        Case{"P10 dash", add_with("CNI_CONTAINERID", "-abc"), "", bad_id("-abc")},
        Case{"P10 underscore", add_with("CNI_CONTAINERID", "_a"), "", bad_id("_a")},
        Case{"P10 umlaut", add_with("CNI_CONTAINERID", "ü"), "", bad_id("ü")},
        Case{"P10 one", add_with("CNI_CONTAINERID", "a"), "ADD", {}},
        Case{"P10 all", add_with("CNI_CONTAINERID", "0.A_-"), "ADD", {}},
        Case{"P11 15", add_with("CNI_IFNAME", "123456789012345"), "ADD", {}},
        Case{"P11 16", add_with("CNI_IFNAME", "1234567890123456"), "", kLongIfname},
        Case{"P12", add_with("CNI_IFNAME", "üüüüüüüü"), "", kLongIfname},
        Case{"P13 dot", add_with("CNI_IFNAME", "."), "", {4, "interface name is . or ..", ""}},
        Case{"P13 dotdot", add_with("CNI_IFNAME", ".."), "", {4, "interface name is . or ..", ""}},
        Case{"P13 colon", add_with("CNI_IFNAME", "a:b"), "", {4, std::string(kBadIfname), ""}},
        Case{"P13 blank", add_with("CNI_IFNAME", "a b"), "", {4, std::string(kBadIfname), ""}},
        Case{"P13 nbsp", add_with("CNI_IFNAME", "a\xc2\xa0"), "", {4, std::string(kBadIfname), ""}},
        Case{"P14", add_with("CNI_IFNAME", "e\xa0"), "ADD", {}},
        Case{"P15",
             {.env = with(standard("GC"), {{"CNI_CONTAINERID", "%%"}, {"CNI_IFNAME", "a/b"}})},
             "GC",
             {}},
        Case{"P16", {.env = {{"CNI_COMMAND", "GC"}}}, "", missing("CNI_PATH")}));

// Commands and stdin.
INSTANTIATE_TEST_SUITE_P(
    Input, Skel,
    testing::Values(
        Case{"P17", {.env = standard("NOPE")}, "", {4, "unknown CNI_COMMAND: NOPE", ""}},
        Case{"P18",
             {.env = standard("NOPE"), .text = ""},
             "",
             {6, "error unmarshall network config: …", ""}},
        Case{"P19", {.env = standard("add")}, "", {4, "unknown CNI_COMMAND: add", ""}},
        Case{"P21 null", add_of("null"), "", {7, "missing network name", ""}},
        Case{"P21 empty object", add_of("{}"), "", {7, "missing network name", ""}},
        Case{"P21 empty name", add_of(R"({"name":""})"), "", {7, "missing network name", ""}},
        Case{"P21 null name", add_of(R"({"name":null})"), "", {7, "missing network name", ""}},
        Case{"P22 list", add_of("[]"), "", {6, "error unmarshall network config: …", ""}},
        Case{"P22 nothing", add_of(""), "", {6, "error unmarshall network config: …", ""}},
        Case{"P22 garbage", add_of("{}x"), "", {6, "error unmarshall network config: …", ""}},
        Case{
            "P22 name", add_of(R"({"name":5})"), "", {6, "error unmarshall network config: …", ""}},
        Case{"P23 percent",
             add_of(R"({"name":"te%%st"})"),
             "",
             {7, "invalid characters found in network name", "te%%st"}},
        Case{"P23 slash",
             add_of(R"({"name":"a/b"})"),
             "",
             {7, "invalid characters found in network name", "a/b"}},
        Case{"P23 dots",
             add_of(R"({"name":"../x"})"),
             "",
             {7, "invalid characters found in network name", "../x"}},
        Case{"P42",
             {.env = standard("ADD"), .is_stdin_broken = true},
             "",
             {5, "error reading from stdin: …", ""}},
        Case{"P47 value", add_of("{\"name\":\"n\",\"x\":\"\xff\"}"), "ADD", {}},
        Case{"P47 name",
             add_of("{\"name\":\"n\xff\"}"),
             "",
             {7, "invalid characters found in network name", "n\xef\xbf\xbd"}},
        Case{"any letter case", add_of(R"({"NAME":"n","CniVersion":"1.0.0"})"), "ADD", {}}));

const ErrorObject kTooOldForCheck{1, "config version does not allow CHECK", ""};
const std::vector<std::string> kOldPlugin{"0.1.0", "0.2.0", "0.3.0"};

// Version gates.
INSTANTIATE_TEST_SUITE_P(
    Versions, Skel,
    testing::Values(
        Case{"P24",
             versioned("ADD", "9.9.9"),
             "",
             {1, "incompatible CNI versions",
              R"(config is "9.9.9", plugin supports )"
              R"(["0.1.0" "0.2.0" "0.3.0" "0.3.1" "0.4.0" "1.0.0" "1.1.0"])"}},
        Case{"P25",
             versioned("ADD", "1.1", {"1.1.0"}),
             "",
             {1, "incompatible CNI versions", R"(config is "1.1", plugin supports ["1.1.0"])"}},
        Case{"P26",
             {.env = standard("ADD"), .text = R"({"name":"n"})", .versions = {"0.4.0"}},
             "",
             {1, "incompatible CNI versions", R"(config is "0.1.0", plugin supports ["0.4.0"])"}},
        Case{"P27",
             add_of(R"({"name":"n","cniVersion":5})"),
             "",
             {6, "decoding version from network config: …", ""}},
        Case{"P28", versioned("CHECK", "0.3.1"), "", kTooOldForCheck},
        Case{"P29",
             versioned("CHECK", "0.5.0", {"0.4.0", "1.0.0"}),
             "",
             {1, "incompatible CNI versions",
              R"(config is "0.5.0", plugin supports ["0.4.0" "1.0.0"])"}},
        Case{"P30",
             versioned("CHECK", "zz"),
             "",
             {6, R"(failed to convert major version part "zz": …)", ""}},
        Case{"P31",
             versioned("CHECK", "0.4.0", kOldPlugin),
             "",
             {1, "plugin version does not allow CHECK", ""}},
        Case{"P32",
             versioned("CHECK", "0.4.0", {"0.1.0", "bad"}),
             "",
             {6, R"(failed to convert major version part "bad": …)", ""}},
        Case{"P32 found before", versioned("CHECK", "0.4.0", {"0.4.0", "bad"}), "CHECK", {}},
        Case{"P33 GC", versioned("GC", "1.0.0"), "", {1, "config version does not allow GC", ""}},
        Case{"P33 STATUS",
             versioned("STATUS", "1.0.0"),
             "",
             {1, "config version does not allow STATUS", ""}},
        Case{"P34",
             versioned("STATUS", "2.0.0"),
             "",
             {1, "plugin version does not allow STATUS", ""}},
        Case{"P35", {.env = standard("GC"), .has_gc = false}, "", {}},
        Case{"version not text, CHECK",
             {.env = standard("CHECK"), .text = R"({"name":"n","cniVersion":5})"},
             "",
             {6, "decoding version from network config: …", ""}}));

const ErrorObject kOwn{8, "plugin's netns and netns from CNI_NETNS should not be the same", ""};

Setup in_own_netns(std::string_view command, std::string_view override_value) {
  return {.env = with(standard(command), {{"CNI_NETNS", std::string(kOwnNetns)},
                                          {"CNI_NETNS_OVERRIDE", std::string(override_value)}})};
}

// The handler must not have run when the namespace is refused: that is our fix.
INSTANTIATE_TEST_SUITE_P(
    Netns, Skel,
    testing::Values(Case{"P38 ADD", in_own_netns("ADD", ""), "", kOwn},
                    Case{"P38 DEL", in_own_netns("DEL", ""), "", kOwn},
                    Case{"P38 CHECK is not compared", in_own_netns("CHECK", ""), "CHECK", {}},
                    Case{"P39 TrUe", in_own_netns("ADD", "TrUe"), "ADD", {}},
                    Case{"P39 1", in_own_netns("DEL", "1"), "DEL", {}},
                    Case{"P39 yes", in_own_netns("ADD", "yes"), "", kOwn},
                    Case{"P40", {.env = standard("DEL")}, "DEL", {}}));

// P36: the text around a typed error is lost, code and details survive. P37.
INSTANTIATE_TEST_SUITE_P(
    HandlerErrors, Skel,
    testing::Values(
        Case{"P36",
             {.env = standard("ADD"),
              .handler_error = Error::from_object(Errc::kPlugin, {1234, "m", "d"}).wrap("around")},
             "ADD",
             {1234, "m", "d"}},
        Case{"P37",
             {.env = standard("ADD"), .handler_error = Error(Errc::kIo, "potato")},
             "ADD",
             {999, "potato", ""}}));

// 02, 3.3: the author of the text on stdin need not be the one that configures the node.
TEST(SkelNested, RunsNoHandlerForADelegateOfItsOwn) {
  for (const char* command : {"ADD", "CHECK", "GC", "STATUS"}) {
    const Outcome run =
        run_plugin({.env = with(standard(command), {{"MARK", ""}}), .own_mark = "MARK"});

    EXPECT_EQ(run.called, "") << command;
    EXPECT_EQ(run.error().code, 7u);
    EXPECT_THAT(run.error().msg, StartsWith("multus was started by a delegate of Multus"));
  }
  const Outcome del =
      run_plugin({.env = with(standard("DEL"), {{"MARK", "x"}}), .own_mark = "MARK"});
  EXPECT_EQ(del.exit, 0);
  EXPECT_EQ(del.called, "");
  EXPECT_THAT(del.err, StartsWith("multus was started by a delegate of Multus"));
  EXPECT_EQ(run_plugin({.env = standard("ADD"), .own_mark = "MARK"}).called, "ADD");
}

// P1, and an empty command is none.
TEST(SkelAbout, IsPrintedOnStderrWithoutACommand) {
  for (const Environment& env : {Environment{}, Environment{{"CNI_COMMAND", ""}}}) {
    const Outcome run = run_plugin({.env = env, .about = "A"});

    EXPECT_EQ(run.exit, 0);
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(run.err,
              "A\nCNI protocol versions supported: "
              "0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0\n");
  }
}

// P20.
TEST(SkelVersion, IsCompactWithANewlineAndNeedsNoStdin) {
  const Outcome run = run_plugin({.env = {{"CNI_COMMAND", "VERSION"}}, .is_stdin_broken = true});

  EXPECT_EQ(run.exit, 0);
  EXPECT_EQ(run.out,
            R"({"cniVersion":"1.1.0","supportedVersions":["0.1.0","0.2.0","0.3.0","0.3.1","0.4.0",)"
            "\"1.0.0\",\"1.1.0\"]}\n");
}

// P41.
TEST(SkelError, IsIndentedByFourWithoutANewlineAndWithoutVersion) {
  const Outcome typed = run_plugin(
      {.env = standard("ADD"), .handler_error = Error::from_object(Errc::kPlugin, {7, "m", "d"})});
  const Outcome plain =
      run_plugin({.env = standard("ADD"), .handler_error = Error(Errc::kIo, "pot\"a<to\xff")});

  EXPECT_EQ(typed.out, "{\n    \"code\": 7,\n    \"msg\": \"m\",\n    \"details\": \"d\"\n}");
  EXPECT_EQ(plain.out, "{\n    \"code\": 999,\n    \"msg\": \"pot\\\"a\\u003cto\xef\xbf\xbd\"\n}");
}

TEST(SkelError, IsSaidOnStderrWhenStdoutIsGone) {
  const Outcome run = run_plugin({.env = standard("NOPE"), .is_stdout_broken = true});
  const Outcome version =
      run_plugin({.env = {{"CNI_COMMAND", "VERSION"}}, .is_stdout_broken = true});

  EXPECT_EQ(run.exit, 1);
  EXPECT_EQ(run.err, "Error writing error JSON to stdout: write /dev/stdout: broken pipe\n");
  EXPECT_EQ(version.exit, 1);
}

TEST(SkelHandler, GetsTheVariablesAndTheBytesOfStdin) {
  const std::string text = "  {\"name\":\"n\" , \"cniVersion\":\"1.1.0\"}\n";

  const Outcome run =
      run_plugin({.env = with(standard("ADD"), {{"CNI_ARGS", "a;b"}, {"CNI_NETNS_OVERRIDE", "1"}}),
                  .text = text});

  EXPECT_EQ(run.args.container_id, "c");
  EXPECT_EQ(run.args.netns, "/no/such/netns");
  EXPECT_EQ(run.args.ifname, "eth0");
  EXPECT_EQ(run.args.args, "a;b");
  EXPECT_EQ(run.args.path, "/opt/cni/bin");
  EXPECT_EQ(run.args.netns_override, "1");
  EXPECT_EQ(run.args.stdin_data, text);
}

// 01, 2.6: the original dies without JSON.
TEST(SkelHandler, ThatThrowsIsAnsweredWithAnInternalError) {
  std::string out;
  const Plugin plugin{.add = [](const CmdArgs&) -> Result<void> { throw std::bad_alloc(); },
                      .versions = cni::all_versions()};
  const Environment env = standard("ADD");
  const Front front{.env = [&](std::string_view name) -> std::optional<std::string> {
                      const auto found = env.find(name);
                      if (found == env.end()) return std::nullopt;
                      return found->second;
                    },
                    .read_stdin = []() -> Result<std::string> { return std::string(kStdin); },
                    .write_stdout = [&](std::string_view text) -> Result<void> {
                      out += text;
                      return {};
                    },
                    .write_stderr = [](std::string_view) {}};

  EXPECT_EQ(skel::run(plugin, front), 1);
  EXPECT_THAT(out, HasSubstr(R"("code": 999)"));
}

TEST(PrintResult, ConvertsAndIndentsWithoutANewline) {
  std::string out;
  const Front front{.env = {},
                    .read_stdin = {},
                    .write_stdout = [&](std::string_view text) -> Result<void> {
                      out += text;
                      return {};
                    },
                    .write_stderr = {}};
  cni::NetResult result;
  result.version = "1.1.0";
  result.interfaces.push_back(
      {.name = "eth0", .mac = "", .sandbox = "", .socket_path = "", .pci_id = ""});

  ASSERT_TRUE(print_result(result, "0.4.0", front).has_value());

  EXPECT_EQ(out,
            "{\n    \"cniVersion\": \"0.4.0\",\n    \"interfaces\": [\n        {\n            "
            "\"name\": \"eth0\"\n        }\n    ],\n    \"dns\": {}\n}");
}

TEST(PrintResult, SaysWhatCannotBeConverted) {
  cni::NetResult result;
  result.version = "1.1.0";

  EXPECT_EQ(print_result(result, "0.2.0", Front{}).error().text(),
            "cannot convert: no valid IP addresses");
}

}  // namespace
}  // namespace mnet::skel
