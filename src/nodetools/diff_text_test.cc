#include "nodetools/diff_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"
#include "sys/test_dir.h"

namespace mnet::nodetools {
namespace {

using testing::EndsWith;

constexpr std::string_view kMarker = "\\ No newline at end of file\n";

TEST(DiffText, OfEqualTextsIsEmpty) { EXPECT_EQ(diff_text("a\nb", "a\nb"), ""); }

// 04, 4: row 75, the block of 2.6 word for word.
TEST(DiffText, MarksLinesWithoutANewline) {
  EXPECT_EQ(diff_text("orange,apple,banana", "orange,mango,banana"),
            cat("@@ -1 +1 @@\n-orange,apple,banana\n", kMarker, "+orange,mango,banana\n", kMarker));
}

TEST(DiffText, OfAFirstTextHasAnEmptySide) {
  EXPECT_EQ(diff_text("", "orange"), cat("@@ -0,0 +1 @@\n+orange\n", kMarker));
  EXPECT_EQ(diff_text("orange\n", ""), "@@ -1 +0,0 @@\n-orange\n");
}

// 04, 4: row 116.
TEST(DiffText, TellsAnUnterminatedLineFromATerminatedOne) {
  EXPECT_EQ(diff_text("a", "a\nb"), cat("@@ -1 +1,2 @@\n-a\n", kMarker, "+a\n+b\n", kMarker));
}

TEST(DiffText, ShowsThreeLinesOfContextAndJoinsWhatIsNear) {
  const std::string before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n";
  const std::string after = "1\n2\n3\n4\nX\n6\n7\n8\n9\n10\n11\n12\n13\n14\nY\n";

  EXPECT_EQ(diff_text(before, after),
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+X\n 6\n 7\n 8\n"
            "@@ -12,4 +12,4 @@\n 12\n 13\n 14\n-15\n+Y\n");
  EXPECT_EQ(diff_text("a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n"),
            "@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n");
}

TEST(DiffText, IsCutAfterAWholeLine) {
  std::string after;
  for (int i = 0; i < 100; ++i) after += cat("line ", i, "\n");

  const std::string diff = diff_text("", after, 100);

  EXPECT_LE(diff.size(), 100u + std::string_view("(diff truncated)\n").size());
  EXPECT_THAT(diff, EndsWith("\n(diff truncated)\n"));
}

std::string output_of(const std::string& command) {
  std::string out;
  // NOLINTNEXTLINE(bugprone-command-processor): a test's own command
  FILE* pipe = ::popen(command.c_str(), "re");
  char buffer[4096];
  while (const auto count = ::fread(buffer, 1, sizeof buffer, pipe)) out.append(buffer, count);
  ::pclose(pipe);
  return out;
}

TEST(DiffText, IsWhatTheRealDiffPrints) {
  const sys::TestDir dir;
  std::srand(7);  // NOLINT(bugprone-random-generator-seed): the same each time
  for (int round = 0; round < 60; ++round) {
    std::string before, after;
    for (int line = 0; line < 30; ++line) {
      const int what = std::rand() % 10;
      if (what != 0) before += cat("line ", line, "\n");
      if (what != 1) after += what == 2 ? cat("changed ", line, "\n") : cat("line ", line, "\n");
    }
    if (round % 3 == 0) before.pop_back();
    if (round % 4 == 0) after.pop_back();
    const std::string a = dir.write("a", before), b = dir.write("b", after);

    EXPECT_EQ(diff_text(before, after), output_of(cat("diff -U3 ", a, " ", b, " | tail -n +3")));
  }
}

}  // namespace
}  // namespace mnet::nodetools
