#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "multusctl/commands.h"
#include "multusctl/invocation.h"
#include "multusctl/run_commands.h"
#include "nodetools/output.h"
#include "sys/test_dir.h"

namespace mnet::multusctl {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Outcome {
  int status;
  std::string printed, complaints;
};

Outcome run(std::vector<std::string> words, bool is_terminal = false,
            std::vector<std::string> environment = {}) {
  words.insert(words.begin(), "lint");
  const auto line = parse_invocation("multusctl", words);
  EXPECT_TRUE(line.has_value()) << line.error().text();
  nodetools::RecordedOutput output;
  Surroundings surroundings{output, std::move(environment), is_terminal};
  const int status = run_lint(*line, surroundings);
  return {status, output.printed, output.complaints};
}

constexpr std::string_view kWarning =
    "kind: Pod\nmetadata:\n  name: p\n  annotations: {k8s.v1.cni.cncf.io/network: a}\n";
constexpr std::string_view kError =
    "kind: Pod\nmetadata:\n  name: p\n  annotations: {k8s.v1.cni.cncf.io/networks: A}\n";

TEST(LintCommand, FailsOnErrorsAndOnWarningsOnlyIfStrict) {
  const sys::TestDir dir;
  const std::string warning = dir.write("w.yaml", kWarning), error = dir.write("e.yaml", kError);

  EXPECT_EQ(run({warning}).status, 0);
  EXPECT_EQ(run({"--strict", warning}).status, 1);
  EXPECT_EQ(run({error}).status, 1);
  EXPECT_THAT(run({error}).printed, StartsWith(cat(error, ":4:46 ")));
}

TEST(LintCommand, ReadsDirectoriesAtAnyDepthAndOnlyFilesThatItKnows) {
  const sys::TestDir dir;
  dir.write("a/e.yaml", kError);
  dir.write("a/e.txt", kError);
  dir.write(".e.yaml", kError);

  const Outcome outcome = run({dir.path()});

  EXPECT_EQ(outcome.printed.find("MN030"), outcome.printed.rfind("MN030"));
  EXPECT_THAT(outcome.printed, HasSubstr("a/e.yaml"));
}

TEST(LintCommand, PrintsInColourOnTerminalsUnlessToldOtherwise) {
  const sys::TestDir dir;
  const std::string error = dir.write("e.yaml", kError);

  EXPECT_THAT(run({error}, true).printed, HasSubstr("\033[31merror"));
  EXPECT_EQ(run({error}, true, {"NO_COLOR=1"}).printed, run({error}, false).printed);
}

TEST(LintCommand, FindsPluginsThatTheNodeLacks) {
  const sys::TestDir dir;
  dir.write("bin/bridge", "");
  const std::string conf = dir.write("10-a.conf", R"({"name":"a","type":"macvlan"})");

  EXPECT_EQ(run({conf}).status, 0);
  const Outcome outcome = run({"--node-bin-dir", dir / "bin", conf});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.printed, HasSubstr(cat("no plugin \"macvlan\" in ", dir / "bin")));
}

TEST(LintCommand, PutsWhatNamesNoNamespaceIntoThatOfTheFlag) {
  const sys::TestDir dir;
  const std::string error = dir.write("e.yaml", kError);

  EXPECT_THAT(run({error, "-n", "net"}).printed, HasSubstr("MN030 net/p: "));
  EXPECT_THAT(run({error}).printed, HasSubstr("MN030 default/p: "));
}

TEST(LintCommand, SaysWhichFileItCannotRead) {
  const Outcome outcome = run({"/nonexistent/x.yaml"});

  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.complaints, HasSubstr("/nonexistent/x.yaml"));
  EXPECT_EQ(run({}).status, 2);
}

}  // namespace
}  // namespace mnet::multusctl
