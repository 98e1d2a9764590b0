#include "multusctl/about.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/text.h"
#include "multusctl/commands.h"

namespace mnet::multusctl {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(About, NamesEveryCommandInHelpManualAndCompletion) {
  for (const Command& command : all_commands()) {
    const std::string name(command.name);
    EXPECT_THAT(help_text("multusctl", nullptr), HasSubstr(cat("  ", name, " ")));
    EXPECT_THAT(man_page(), HasSubstr(cat(".SS multusctl ", name)));
    EXPECT_THAT(completion_script("bash"), HasSubstr(cat("    ", name, ") words=")));
    EXPECT_THAT(completion_script("zsh"), HasSubstr(cat("    ", name, ") _arguments")));
    EXPECT_THAT(completion_script("fish"), HasSubstr(cat("-a ", name, " -d ")));
  }
}

TEST(About, NamesEveryFlagOfACommand) {
  for (const Command& command : all_commands()) {
    const std::string help = help_text("kubectl multus", &command);
    EXPECT_THAT(help, HasSubstr(cat("  kubectl multus ", command.name)));
    for (const std::string_view flag : command.flags) EXPECT_THAT(help, HasSubstr(cat("--", flag)));
    for (const Flag& flag : all_flags()) {
      if (is_global(flag.name)) EXPECT_THAT(help, HasSubstr(cat("--", flag.name)));
    }
  }
}

TEST(About, TellsEachCommandItsOwnFormats) {
  EXPECT_THAT(help_text("multusctl", find_command("lint")), HasSubstr("json, github"));
  EXPECT_THAT(help_text("multusctl", find_command("version")), Not(HasSubstr("github")));
  EXPECT_THAT(help_text("multusctl", find_command("report")), HasSubstr("-o, --output FILE "));
}

TEST(About, TellsEachCommandWhatItsFlagsMeanThere) {
  const auto help_of = [](std::string_view command) {
    return help_text("multusctl", find_command(command));
  };

  EXPECT_THAT(help_of("pods"), HasSubstr("the namespace; default: that of the context"));
  EXPECT_THAT(help_of("status"), HasSubstr("the namespace of the daemons; default: kube-system"));
  EXPECT_THAT(help_of("test"), HasSubstr("the namespace of the pods"));
  EXPECT_THAT(help_of("attach"), HasSubstr("default: 60"));
  EXPECT_THAT(man_page(), HasSubstr("the namespace of the daemons; default: kube\\-system"));
}

TEST(About, HasAManualThatEveryRoffReads) {
  EXPECT_TRUE(std::ranges::all_of(man_page(), [](char c) { return c > 0 && c < 0x7F; }));
  EXPECT_THAT(man_page(), HasSubstr("has passed (\\[u2713]), has failed (\\[u2717])"));
}

TEST(About, BeginsTheHelpOfACommandWithASentence) {
  EXPECT_THAT(help_text("multusctl", find_command("lint")), StartsWith("Find mistakes in"));
}

TEST(About, KnowsThreeShells) { EXPECT_EQ(completion_script("csh"), ""); }

}  // namespace
}  // namespace mnet::multusctl
