#include "multusctl/invocation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "multusctl/commands.h"

namespace mnet::multusctl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ParseInvocation, TakesFlagsBeforeAndAfterTheCommand) {
  const auto line = parse_invocation(
      "/usr/bin/multusctl", {"--kubeconfig=k", "lint", "-o", "json", "a", "--strict", "b"});

  ASSERT_TRUE(line.has_value()) << line.error().text();
  EXPECT_EQ(line->program, "multusctl");
  EXPECT_EQ(line->command, find_command("lint"));
  EXPECT_THAT(line->arguments, ElementsAre("a", "b"));
  EXPECT_EQ(line->text("kubeconfig"), "k");
  EXPECT_EQ(line->text("output"), "json");
  EXPECT_TRUE(line->has("strict"));
  EXPECT_FALSE(line->has("cluster"));
}

TEST(ParseInvocation, CallsItselfAsItWasCalled) {
  EXPECT_EQ(parse_invocation("/x/kubectl-multus", {})->program, "kubectl multus");
}

TEST(ParseInvocation, RefusesWhatTheCommandDoesNotTake) {
  const auto command = parse_invocation("multusctl", {"lnit"});
  const auto flag = parse_invocation("multusctl", {"version", "--strict"});
  const auto format = parse_invocation("multusctl", {"lint", "-o", "xml", "f"});
  const auto unknown = parse_invocation("multusctl", {"lint", "--loud"});

  ASSERT_TRUE(!command && !flag && !format && !unknown);
  EXPECT_THAT(command.error().text(), HasSubstr("did you mean \"lint\"?"));
  EXPECT_THAT(flag.error().text(), HasSubstr("version has no flag --strict"));
  EXPECT_THAT(format.error().text(), HasSubstr("lint supports json, github"));
  EXPECT_THAT(unknown.error().text(), HasSubstr("--loud\nRun 'multusctl lint --help'"));
}

TEST(ParseInvocation, RefusesArgumentsThatTheCommandDoesNotRead) {
  for (const Command& command : all_commands()) {
    const std::string name(command.name);
    const auto line = parse_invocation("multusctl", {name, "more"});
    EXPECT_EQ(line.has_value(), !command.arguments.empty()) << name;
    EXPECT_TRUE(parse_invocation("multusctl", {name, "more", "--help"}).has_value()) << name;
  }
  EXPECT_THAT(parse_invocation("kubectl-multus", {"doctor", "node-1"}).error().text(),
              HasSubstr("doctor takes no arguments, such as \"node-1\"\n"
                        "Run 'kubectl multus doctor --help'"));
}

// What a shell would do with the rest of the line is its own affair.
std::vector<std::string> words_of(std::string_view example) {
  std::vector<std::string> words;
  for (const std::string_view word : split(example, ' ')) {
    if (word == ">" || word == "|") break;
    words.emplace_back(word);
  }
  return words;
}

TEST(ParseInvocation, TakesEveryExampleThatHelpShows) {
  for (const Command& command : all_commands()) {
    for (const std::string_view example : command.examples) {
      const auto line = parse_invocation("multusctl", words_of(example));
      ASSERT_TRUE(line.has_value()) << example << ": " << line.error().text();
      EXPECT_EQ(line->command, &command) << example;
    }
  }
}

TEST(ParseInvocation, RefusesATimeThatIsNotANumberBeforeAnythingIsAsked) {
  EXPECT_THAT(parse_invocation("multusctl", {"test", "--timeout", "5m"}).error().text(),
              HasSubstr("expected seconds, 1 to 3600"));
}

TEST(ParseInvocation, KnowsHelpEverywhere) {
  EXPECT_TRUE(parse_invocation("multusctl", {"--help"})->has("help"));
  EXPECT_TRUE(parse_invocation("multusctl", {"lint", "-h"})->has("help"));
  EXPECT_TRUE(parse_invocation("multusctl", {"help"})->has("help"));
  const auto of_command = parse_invocation("multusctl", {"help", "status"});
  ASSERT_TRUE(of_command.has_value()) << of_command.error().text();
  EXPECT_EQ(of_command->command, find_command("status"));
  EXPECT_TRUE(of_command->has("help"));
}

TEST(ParseInvocation, TakesTheFlagVersionForTheCommand) {
  const auto line = parse_invocation("multusctl", {"--version"});

  ASSERT_TRUE(line.has_value()) << line.error().text();
  EXPECT_EQ(line->command, find_command("version"));
}

}  // namespace
}  // namespace mnet::multusctl
