#include "nodetools/options.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace mnet::nodetools {
namespace {

struct Parsed {
  std::optional<std::string> value;
  bool flag = false;
  std::string error;
};

Parsed parse(const std::vector<std::string>& words) {
  Parsed out;
  EqualsOptions options;
  options.text("--value", &out.value);
  options.text("-v", &out.value);
  options.boolean("--flag", &out.flag);
  if (auto done = options.parse(words); !done) out.error = done.error().text();
  return out;
}

TEST(EqualsOptions, TakesTheValueOfALongOptionFromTheNextWord) {
  EXPECT_EQ(parse({"--value", "a"}).value, "a");
  EXPECT_EQ(parse({"--value", "", "--flag"}).value, "");
  EXPECT_EQ(parse({"--value", "-1"}).value, "-1");
  EXPECT_EQ(parse({"--value", "a", "b"}).error, "Unknown option: b");
  EXPECT_EQ(parse({"--value"}).error, "Missing value: --value");
  EXPECT_EQ(parse({"--value", "--flag"}).error, "Missing value: --value");
}

TEST(EqualsOptions, TakesValuesBehindTheEqualsSignAndTheLastOfSeveral) {
  EXPECT_EQ(parse({"--value=a=b"}).value, "a=b");
  EXPECT_EQ(parse({"--value="}).value, "");
  EXPECT_EQ(parse({"--value=a", "-v=b", "--flag"}).value, "b");
  EXPECT_TRUE(parse({"--flag"}).flag);
  EXPECT_EQ(parse({}).value, std::nullopt);
}

// 04, 4: row 6.
TEST(EqualsOptions, RefusesEverythingElseByTheNameItWasGiven) {
  EXPECT_EQ(parse({"--foo=1"}).error, "Unknown option: --foo");
  EXPECT_EQ(parse({"-v", "a"}).error, "Unknown option: -v");
  EXPECT_EQ(parse({"--flag=x"}).error, "Unknown option: --flag");
  EXPECT_EQ(parse({"word"}).error, "Unknown option: word");
  EXPECT_EQ(parse({""}).error, "Unknown option: ");
}

}  // namespace
}  // namespace mnet::nodetools
