#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace mnet {
namespace {

using testing::ElementsAre;

TEST(GoQuoted, PrintsAsGosQuoteVerb) {
  EXPECT_EQ(go_quoted("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(go_quoted("\a\b\f\n\r\t\v"), R"("\a\b\f\n\r\t\v")");
  EXPECT_EQ(go_quoted(std::string("\x01\x7f\xff", 3)), R"("\x01\x7f\xff")");
  EXPECT_EQ(go_quoted("\xc2\xa0"), R"("\u00a0")");
  EXPECT_EQ(go_quoted("\xf3\xa0\x80\x81"), R"("\U000e0001")");
  EXPECT_EQ(go_quoted("ü"), "\"ü\"");
  EXPECT_EQ(go_quoted_list({"0.1.0", "1.0.0"}), R"(["0.1.0" "1.0.0"])");
}

TEST(Base64, RoundTripsEveryLength) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    std::string back;
    ASSERT_TRUE(from_base64(to_base64(bytes), back));
    EXPECT_EQ(back, bytes);
    bytes += static_cast<char>(i * 7);
  }
}

TEST(Base64, SkipsLineBreaksAndRefusesEverythingElse) {
  std::string bytes;
  EXPECT_TRUE(from_base64("YW\r\nJj", bytes));
  EXPECT_EQ(bytes, "abc");
  for (const char* bad :
       {"YW", "YW=", "YWJ", "YW==Y", "Y===", "====", "=", "YWJj=", "YW_-", "YW J"}) {
    EXPECT_FALSE(from_base64(bad, bytes)) << bad;
  }
}

TEST(CleanPath, IsLexical) {
  EXPECT_EQ(clean_path("/run/multus/"), "/run/multus");
  EXPECT_EQ(clean_path("/run//./a/../multus"), "/run/multus");
  EXPECT_EQ(clean_path("/../x"), "/x");
  EXPECT_EQ(clean_path("a/../../b"), "../b");
  EXPECT_EQ(clean_path(""), ".");
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

TEST(Utf8, TakesEachInvalidByteAloneAsGoDoes) {
  for (const std::string_view text : {"\xff\xfe", "\xc0\x80", "\xed\xa0\x80", "\xe2\x82"}) {
    const CodePoint first = decode_utf8(text);
    EXPECT_FALSE(first.valid);
    EXPECT_EQ(first.value, kReplacement);
    EXPECT_EQ(first.bytes, 1u);
  }
  EXPECT_EQ(decode_utf8("\xf0\x9f\x98\x80").value, U'\U0001F600');
}

TEST(Text, CutsForeignTextForMessages) {
  EXPECT_EQ(excerpt("short"), "short");
  EXPECT_EQ(excerpt(std::string(100, 'x')), std::string(100, 'x'));
  EXPECT_EQ(excerpt(std::string(101, 'x')), std::string(100, 'x') + "...");
  EXPECT_EQ(excerpt("abc", 2), "ab...");
  EXPECT_EQ(excerpt(std::string(500, 'x'), kWhole), std::string(500, 'x'));
  EXPECT_EQ(excerpt("aüb", 2), "a...") << "never half a character";
  EXPECT_EQ(go_quoted(std::string(101, 'x')), cat('"', std::string(100, 'x'), "...\""));
}

TEST(Text, EscapesWhatATerminalWouldObeyInForeignText) {
  EXPECT_EQ(excerpt("\x1b[31mred\a\n\x7f"), R"(\x1b[31mred\a\n\x7f)");
  EXPECT_EQ(excerpt("\xc2\x9b"), R"(\u009b)") << "CSI of eight bits";
  EXPECT_EQ(excerpt("\xe2\x80\xae"), R"(\u202e)") << "writes from right to left";
  EXPECT_EQ(excerpt("\x9b"), R"(\x9b)");
  EXPECT_EQ(excerpt("a \"b\" 'c' \\ ü"), "a \"b\" 'c' \\ ü");
  EXPECT_EQ(excerpt(std::string(100, '\x1b')).size(), 103u) << "escapes count, too";
}

TEST(Text, CutsLongLists) {
  EXPECT_EQ(bracketed({"a", "b"}), "[a b]");
  const std::vector<std::string> many(1000, "a");
  EXPECT_EQ(bracketed(many), "[a a a a a a a a a a a a a a a a ...]");
  EXPECT_LT(go_quoted_list(many).size(), 100u);
}

}  // namespace
}  // namespace mnet
