#include "yaml/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "json/json.h"

namespace mnet::yaml {
namespace {

using testing::HasSubstr;

std::string as_json(std::string_view text) {
  auto documents = parse_documents(text);
  if (!documents) return "error: " + documents.error().text();
  std::string out;
  for (const Document& document : *documents) out += json::dump(document.value) + "\n";
  return out;
}

TEST(Yaml, ReadsEveryDocumentAndLeavesOutEmptyOnes) {
  EXPECT_EQ(as_json("# comment\n---\na: 1\n---\n# nothing\n---\n[b]\n"), "{\"a\":1}\n[\"b\"]\n");
}

TEST(Yaml, SaysWhereADocumentBegins) {
  const auto documents = parse_documents("a: 1\n---\nb: 2\n").value();
  ASSERT_EQ(documents.size(), 2u);
  EXPECT_EQ(documents[1].line, 3);
}

TEST(Yaml, TypesPlainScalarsAsKubectlDoes) {
  EXPECT_EQ(as_json("[yes, No, on, y, True, ~, null, '']"),
            "[true,false,true,true,true,null,null,\"\"]\n");
  EXPECT_EQ(as_json("[1, -2, 1.50, .5, 1e3, +7, 0x1f, 0o17, 017, 0b11, 1_000]"),
            "[1,-2,1.50,0.5,1e3,7,31,15,15,3,1000]\n");
  EXPECT_EQ(as_json("[12345678901234567890, 1.2.3.4, 2001-01-01, 1e, -, 0x, 08]"),
            "[12345678901234567890,\"1.2.3.4\",\"2001-01-01\",\"1e\",\"-\",\"0x\",8]\n");
}

// 04, 4: row 64.
TEST(Yaml, TypesKeysTaggedAndLargeScalarsAsKubectlDoes) {
  EXPECT_EQ(as_json("defaultMode: 0744\na: yes\nb: \"yes\"\nn: x\n"),
            R"({"defaultMode":484,"a":true,"b":"yes","false":"x"})"
            "\n");
  EXPECT_EQ(as_json("{0x1F: a, 'n': b, ~: c, 09: d}"), R"({"31":"a","n":"b","null":"c","9":"d"})"
                                                       "\n");
  EXPECT_EQ(as_json("[!!str 5, !!binary aGVsbG8=, 1e400, tRue, 12:30:45, 5., -0x10, 1_000]"),
            R"(["5","hello","1e400","tRue","12:30:45",5,-16,1000])"
            "\n");
}

// 04, 4: row 65.
TEST(Yaml, RefusesWhatJsonDoesNotHave) {
  EXPECT_EQ(as_json("a: .inf"), "error: line 1, column 4: .inf is not a JSON number");
  EXPECT_THAT(as_json("[-.Inf]"), HasSubstr("error: "));
  EXPECT_THAT(as_json("[.NaN]"), HasSubstr("error: "));
  EXPECT_EQ(as_json("['.nan']"), "[\".nan\"]\n");
  EXPECT_THAT(as_json("a:\n\tb: 1\n"), HasSubstr("error: "));
}

TEST(Yaml, MergesMappings) {
  EXPECT_EQ(as_json("x: &x {a: 1, b: 2}\nw: &w {b: 3, c: 4}\nz: {b: 0, <<: [*x, *w]}\n"),
            R"({"x":{"a":1,"b":2},"w":{"b":3,"c":4},"z":{"b":0,"a":1,"c":4}})"
            "\n");
  EXPECT_EQ(as_json("x: &x {a: 1}\nz:\n  <<: *x\n  a: 2\n"), "{\"x\":{\"a\":1},\"z\":{\"a\":2}}\n");
  EXPECT_EQ(as_json("{'<<': 1}"), "{\"\\u003c\\u003c\":1}\n");
  EXPECT_EQ(as_json("{<<: 1}"), "error: line 1, column 6: only mappings can be merged");
}

TEST(Yaml, CountsDocumentsAndTheBytesTheyExpandTo) {
  const auto documents = parse_documents("a: 1\n---\n# nothing\n---\nb: 2\n").value();
  ASSERT_EQ(documents.size(), 2u);
  EXPECT_EQ(documents[1].number, 3);
  EXPECT_THAT(parse_documents("a: &a aaaaaaaaaa\nb: [*a, *a]\n", {.expanded = 30}).error().text(),
              HasSubstr("more than 30 bytes"));
}

TEST(Yaml, LeavesQuotedAndLiteralScalarsAlone) {
  EXPECT_EQ(as_json("a: '1'\nb: \"yes\"\nc: |\n  {\"x\": 1}\n"),
            "{\"a\":\"1\",\"b\":\"yes\",\"c\":\"{\\\"x\\\": 1}\\n\"}\n");
}

TEST(Yaml, ReadsJson) {
  EXPECT_EQ(as_json(R"({"a":[1,{"b":"c"}]})"), "{\"a\":[1,{\"b\":\"c\"}]}\n");
}

TEST(Yaml, NamesThePlaceOfAnError) {
  EXPECT_THAT(as_json("a: 1\nb: [1\n"), HasSubstr("error: line "));
  EXPECT_EQ(as_json("a: 1\na: 2\n"), "error: line 2, column 1: key \"a\" occurs twice");
  EXPECT_EQ(as_json("? [x]\n: 1\n"), "error: line 1, column 3: a key must be a scalar");
}

TEST(Yaml, BoundsWhatAliasesExpandTo) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string previous = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += (k > 0 ? ", " : "") + previous;
    bomb += "]\n";
  }

  const auto documents = parse_documents(bomb, {.nodes = 10'000});

  ASSERT_FALSE(documents.has_value());
  EXPECT_THAT(documents.error().text(), HasSubstr("more than 10000 nodes"));
}

TEST(Yaml, BoundsWhatNestedAnchorsKeep) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "&a" + std::to_string(i) + " [";
  for (int i = 0; i < 1000; ++i) text += "x,";
  text += std::string(100, ']');

  const auto documents = parse_documents(text, {.nodes = 10'000});

  ASSERT_FALSE(documents.has_value());
  EXPECT_THAT(documents.error().text(), HasSubstr("more than 10000 nodes"));
}

TEST(Yaml, ExpandsAliases) {
  EXPECT_EQ(as_json("a: &x [1, {b: c}]\nd: *x\n"), R"({"a":[1,{"b":"c"}],"d":[1,{"b":"c"}]})"
                                                   "\n");
  EXPECT_EQ(as_json("a: &x 5\n*x : 1\n"), "{\"a\":5,\"5\":1}\n");
  EXPECT_EQ(as_json("&x a: *x\n"), "{\"a\":\"a\"}\n");
}

TEST(Yaml, RefusesAnAliasInsideOfWhatItStandsFor) {
  EXPECT_EQ(as_json("&a [*a]\n"), "error: line 1, column 5: an alias inside its own anchor");
}

TEST(Yaml, EndsWithWhatCannotBeginADocument) {
  EXPECT_EQ(as_json(","), "error: line 1, column 1: unexpected character");
  EXPECT_EQ(as_json("a: 1\n---\n, b\n"), "error: line 3, column 1: unexpected character");
  EXPECT_THAT(as_json("}"), HasSubstr("error: line 1"));
  EXPECT_THAT(as_json("]"), HasSubstr("error: line 1"));
}

TEST(Yaml, RefusesKeysThatAreNoScalars) {
  EXPECT_EQ(as_json("? {a: b}\n: 1\n"), "error: line 1, column 3: a key must be a scalar");
  EXPECT_EQ(as_json("x: &a [1]\n*a : 1\n"), "error: line 2, column 1: a key must be a scalar");
}

TEST(Yaml, BoundsNesting) {
  EXPECT_THAT(as_json(std::string(300, '[') + std::string(300, ']')), HasSubstr("error: "));
  EXPECT_THAT(as_json(std::string(100000, '[')), HasSubstr("error: "));
}

}  // namespace
}  // namespace mnet::yaml
