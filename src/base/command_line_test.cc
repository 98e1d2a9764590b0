#include "base/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mnet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Parsed {
  std::string config = "/etc/default";
  bool version = false;
  std::optional<std::int64_t> port;
  GoFlags flags{"prog", "Does a thing."};

  Parsed() {
    flags.add("config", &config, "the file");
    flags.add("version", &version, "print it");
    flags.add("port", &port, "the port");
  }
};

TEST(GoFlags, TakesOneDashOrTwoWithTheValueBehindEqualsOrInTheNextWord) {
  for (const auto& words : {std::vector<std::string>{"-config", "/x"},
                            {"--config", "/x"},
                            {"-config=/x"},
                            {"--config=/x"}}) {
    Parsed p;
    ASSERT_TRUE(p.flags.parse(words).has_value());
    EXPECT_EQ(p.config, "/x");
    EXPECT_TRUE(p.flags.given("config"));
  }
}

TEST(GoFlags, BooleanTakesAValueOnlyBehindEquals) {
  Parsed p;
  ASSERT_TRUE(p.flags.parse({"-version", "false"}).has_value());
  EXPECT_TRUE(p.version);
  EXPECT_THAT(p.flags.rest(), ElementsAre("false"));

  Parsed q;
  ASSERT_TRUE(q.flags.parse({"-version=F"}).has_value());
  EXPECT_FALSE(q.version);
}

TEST(GoFlags, StopsAtTheFirstWordThatIsNoFlagAndBehindTwoDashes) {
  Parsed p;
  ASSERT_TRUE(p.flags.parse({"-port", "80", "word", "-version"}).has_value());
  EXPECT_EQ(p.port, 80);
  EXPECT_FALSE(p.version);
  EXPECT_THAT(p.flags.rest(), ElementsAre("word", "-version"));

  Parsed q;
  ASSERT_TRUE(q.flags.parse({"--", "-version"}).has_value());
  EXPECT_THAT(q.flags.rest(), ElementsAre("-version"));
}

TEST(GoFlags, RefusesUnknownFlagsMissingAndBadValuesInGosWords) {
  const auto why = [](const std::vector<std::string>& words) {
    Parsed p;
    auto outcome = p.flags.parse(words);
    return outcome ? "" : outcome.error().text();
  };
  EXPECT_EQ(why({"-nosuch"}), "flag provided but not defined: -nosuch");
  EXPECT_EQ(why({"-config"}), "flag needs an argument: -config");
  EXPECT_EQ(why({"-port", "x"}), "invalid value \"x\" for flag -port: parse error");
  EXPECT_EQ(why({"-version=maybe"}), "invalid value \"maybe\" for flag -version: parse error");
  EXPECT_EQ(why({"---x"}), "bad flag syntax: ---x");
}

TEST(GoFlags, AsksForHelpWithOrWithoutADefinition) {
  Parsed p;
  EXPECT_EQ(p.flags.parse({"-h"}).value(), GoFlags::Outcome::kHelp);
  EXPECT_THAT(p.flags.usage(), HasSubstr("-config string"));
  EXPECT_THAT(p.flags.usage(), HasSubstr("(default \"/etc/default\")"));
}

}  // namespace
}  // namespace mnet
