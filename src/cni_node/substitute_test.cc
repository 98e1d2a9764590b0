#include "cni_node/substitute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::cni_node {
namespace {

using testing::ElementsAre;

const Variables kVariables = {{"A", "1"}, {"B", "$A"}, {"EMPTY", ""}, {"_x9", "y"}};

// 04, 4: row 49.
TEST(Substitute, DoesWhatEnvsubstDoes) {
  const auto out = substitute("$A ${A} $Ab $$A \\$A ${A:-d} $1 ${A", kVariables);

  EXPECT_EQ(out.text, "1 1  $1 \\1 ${A:-d} $1 ${A");
  EXPECT_THAT(out.unset, ElementsAre("Ab"));
}

TEST(Substitute, NamesEachUnsetVariableOnceAndNoEmptyOne) {
  const auto out = substitute("$X $EMPTY ${Y} $X", kVariables);

  EXPECT_EQ(out.text, "   ");
  EXPECT_THAT(out.unset, ElementsAre("X", "Y"));
}

// 04, 4: row 51.
TEST(Substitute, LeavesNamesThatAreNotAllowed) {
  const auto out = substitute("$A ${A} $B $X", kVariables, {{"B"}});

  EXPECT_EQ(out.text, "$A ${A} $A $X");
  EXPECT_TRUE(out.unset.empty());
}

// What a text becomes when the real program reads it, with our variables and no other.
std::string real_envsubst(const std::string& text) {
  const sys::TestDir dir;
  const std::string in = dir.write("in", text), result = dir / "out";
  std::string command = "env -i";
  for (const auto& [name, value] : kVariables) command += cat(" '", name, "=", value, "'");
  command += cat(" /usr/bin/envsubst < ", in, " > ", result);
  if (std::system(command.c_str()) != 0) return "envsubst failed";  // NOLINT: a test's own command
  return sys::read_file(result).value();
}

TEST(Substitute, GivesTheSameAsTheRealEnvsubst) {
  if (::access("/usr/bin/envsubst", X_OK) != 0) GTEST_SKIP() << "no envsubst (gettext-base)";
  for (const std::string_view text :
       {"$1",     "${1}",   "${}",          "${A:-x}",   "${A-x}",      "${ A }",     "$(A)",
        "${A",    "$",      "a$",           "$$",        "$$$A",        "${A:-$B}",   "$$A",
        "\\$A",   "${$A}",  "${${A}}",      "$A$B",      "${A}${B}",    "$A}",        "${A}}",
        "$_x9z",  "$_x9-",  "${_x9}z",      "$EMPTY|",   "$9A",         "${9A}",      "$A\n$B\n",
        "",       "\n",     "${A\n}",       "$\n",       "${",          "$B",         "${B}",
        "$ A",    "${A$B}", "$A1",          "$A_",       "$A.b",        "\\${A}",     "'$A'",
        "\"$A\"", "`$A`",   "${A}:$UNSET:", "$\xc3\xa4", "${\xc3\xa4}", "$A\xc3\xa4", "$-A",
        "${-A}",  "$A-B",   "$-$A"}) {
    EXPECT_EQ(substitute(text, kVariables).text, real_envsubst(std::string(text)))
        << go_quoted(text);
  }
}

TEST(Substitute, GivesTheSameAsTheRealEnvsubstForWhateverComes) {
  if (::access("/usr/bin/envsubst", X_OK) != 0) GTEST_SKIP() << "no envsubst (gettext-base)";
  std::srand(11);  // NOLINT(bugprone-random-generator-seed): the same each time
  constexpr std::string_view kAlphabet = "$${}}AB_x9 -:\n";
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    text += kAlphabet[static_cast<std::size_t>(std::rand()) % kAlphabet.size()];
  }

  EXPECT_EQ(substitute(text, kVariables).text, real_envsubst(text));
}

}  // namespace
}  // namespace mnet::cni_node
