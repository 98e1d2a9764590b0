#include "base/pflags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mnet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

struct Parsed {
  std::string type = "thick";
  bool quiet = false, verbose = false, secret = false;
  std::optional<std::int64_t> port;
  PFlags flags{"prog", "Does a thing."};

  Parsed() {
    flags.add({"type", 't'}, &type, "what to do");
    flags.add({"quiet", 'q'}, &quiet, "say nothing");
    flags.add({"verbose", 'v'}, &verbose, "say more");
    flags.add({"secret", 0, true}, &secret, "not shown");
    flags.add("port", &port, "the port");
  }
};

TEST(PFlags, TakesLongAndShortFormsWithTheValueBehindThemOrInTheNextWord) {
  for (const auto& words : {std::vector<std::string>{"--type", "thin"},
                            {"--type=thin"},
                            {"-t", "thin"},
                            {"-tthin"},
                            {"-t=thin"},
                            {"-qtthin"}}) {
    Parsed p;
    ASSERT_TRUE(p.flags.parse(words).has_value());
    EXPECT_EQ(p.type, "thin");
    EXPECT_TRUE(p.flags.given("type"));
  }
}

TEST(PFlags, BooleanTakesAValueOnlyBehindEquals) {
  Parsed p;
  ASSERT_TRUE(p.flags.parse({"--quiet", "false"}).has_value());
  EXPECT_TRUE(p.quiet);
  EXPECT_THAT(p.flags.rest(), ElementsAre("false"));

  Parsed q;
  ASSERT_TRUE(q.flags.parse({"-qv", "--quiet=F"}).has_value());
  EXPECT_FALSE(q.quiet);
  EXPECT_TRUE(q.verbose);
}

TEST(PFlags, ReadsFlagsBehindOtherWordsUntilTwoDashes) {
  Parsed p;
  ASSERT_TRUE(p.flags.parse({"word", "--port", "80", "-", "--", "--quiet"}).has_value());
  EXPECT_EQ(p.port, 80);
  EXPECT_FALSE(p.quiet);
  EXPECT_THAT(p.flags.rest(), ElementsAre("word", "-", "--quiet"));
}

TEST(PFlags, AnEmptyValueIsAValue) {
  Parsed p;
  ASSERT_TRUE(p.flags.parse({"--type="}).has_value());
  EXPECT_EQ(p.type, "");
  Parsed q;
  ASSERT_TRUE(q.flags.parse({"--type", ""}).has_value());
  EXPECT_EQ(q.type, "");
}

TEST(PFlags, RefusesInPflagsWords) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--nosuch"}, "unknown flag: --nosuch"},
      {{"--nosuch=1"}, "unknown flag: --nosuch"},
      {{"-x"}, "unknown shorthand flag: 'x' in -x"},
      {{"-qxv"}, "unknown shorthand flag: 'x' in -xv"},
      {{"--type"}, "flag needs an argument: --type"},
      {{"-t"}, "flag needs an argument: 't' in -t"},
      {{"---type"}, "bad flag syntax: ---type"},
      {{"--=x"}, "bad flag syntax: --=x"},
      {{"--quiet=maybe"}, "invalid argument \"maybe\" for \"--quiet\" flag"},
      {{"--port=8x"}, "invalid argument \"8x\" for \"--port\" flag"},
  };
  for (const auto& [words, text] : cases) {
    Parsed p;
    const auto outcome = p.flags.parse(words);
    ASSERT_FALSE(outcome.has_value()) << words[0];
    EXPECT_THAT(outcome.error().text(), HasSubstr(text));
  }
}

TEST(PFlags, HelpIsAskedForByEitherForm) {
  for (const char* word : {"-h", "--help", "-qh"}) {
    Parsed p;
    const auto outcome = p.flags.parse({word});
    ASSERT_TRUE(outcome.has_value());
    EXPECT_EQ(*outcome, PFlags::Outcome::kHelp);
  }
}

TEST(PFlags, UsageShowsDefaultsInColumnsAndNoHiddenFlag) {
  const std::string usage = Parsed().flags.usage();

  EXPECT_THAT(usage, HasSubstr("Does a thing.\n\nUsage of prog:\n"));
  EXPECT_THAT(usage, HasSubstr("  -t, --type string   what to do (default \"thick\")\n"));
  EXPECT_THAT(usage, HasSubstr("      --port int      the port\n"));
  EXPECT_THAT(usage, HasSubstr("  -h, --help          show this text\n"));
  EXPECT_THAT(usage, Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace mnet
