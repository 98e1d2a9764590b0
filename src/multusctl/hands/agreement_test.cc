#include "multusctl/hands/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "multusctl/commands.h"
#include "multusctl/invocation.h"
#include "nodetools/output.h"

namespace mnet::multusctl {
namespace {

using testing::HasSubstr;

struct Asked {
  bool agreed = false;
  nodetools::RecordedOutput output;
};

Asked ask(std::optional<std::string> answer, bool says_yes = false) {
  Asked asked;
  Invocation line{.program = "multusctl", .command = find_command("gc")};
  if (says_yes) line.switches.insert("yes");
  Surroundings surroundings{.output = asked.output, .environment = {}};
  surroundings.ask = [answer] { return answer; };
  asked.agreed = agrees(line, surroundings, "Deletes everything.\n");
  return asked;
}

TEST(Agreement, SaysWhatWillBeDoneAndAsks) {
  const Asked yes = ask("y"), no = ask("n"), nothing = ask("");

  EXPECT_TRUE(yes.agreed);
  EXPECT_THAT(yes.output.printed, HasSubstr("Deletes everything.\nContinue? [y/N]"));
  EXPECT_FALSE(no.agreed);
  EXPECT_FALSE(nothing.agreed);
  EXPECT_THAT(no.output.complaints, HasSubstr("nothing was done"));
}

TEST(Agreement, IsGivenByTheFlagAndNotByTheLackOfATerminal) {
  const Asked flag = ask(std::nullopt, true), nowhere = ask(std::nullopt);

  EXPECT_TRUE(flag.agreed);
  EXPECT_EQ(flag.output.printed, "");
  EXPECT_FALSE(nowhere.agreed);
  EXPECT_THAT(nowhere.output.complaints, HasSubstr("--yes"));
}

}  // namespace
}  // namespace mnet::multusctl
