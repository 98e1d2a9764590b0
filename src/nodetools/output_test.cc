#include "nodetools/output.h"

#include <gtest/gtest.h>

namespace mnet::nodetools {
namespace {

TEST(Output, PrintsNothingThatATerminalWouldObey) {
  RecordedOutput output;
  output.print("a\tb\n\x1b]0;title\a\x1b[2J\rc \xc2\x9b \xff ü\n");
  output.complain("\x1b[1m", "two\nlines\x1b[0m");

  EXPECT_EQ(output.printed, "a\tb\n\\x1b]0;title\\a\\x1b[2J\\rc \\u009b \\xff ü\n");
  EXPECT_EQ(output.complaints, "\\x1b[1m: two\nlines\\x1b[0m\n");
}

TEST(Output, PrintsColoursOfItsOwn) {
  RecordedOutput output;
  output.print_coloured("\x1b[32mgood\x1b[0m");

  EXPECT_EQ(output.printed, "\x1b[32mgood\x1b[0m\n");
}

TEST(Block, HasItsBodyBetweenTitleAndEnd) {
  EXPECT_EQ(block("t", ""), "### t ###\n###\n");
  EXPECT_EQ(block("t", "a\n\nb"), "### t ###\na\n\nb\n###\n");
  EXPECT_EQ(block("t", "a\n"), "### t ###\na\n###\n");
}

TEST(Block, IsNeitherEndedNorBegunByItsBody) {
  EXPECT_EQ(block("t", "###\n### Channel data ###\r\nforged\n### heading\n#### x ####"),
            "### t ###\n\\###\n\\### Channel data ###\r\nforged\n### heading\n\\#### x ####\n"
            "###\n");
}

}  // namespace
}  // namespace mnet::nodetools
