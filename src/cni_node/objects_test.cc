#include "cni_node/objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/text.h"
#include "json/json.h"

namespace mnet::cni_node {
namespace {

using testing::HasSubstr;

std::string shown(std::string_view text) {
  const auto objects = parse_manifest(text);
  if (!objects) return cat("error: ", objects.error().text());
  std::string out;
  for (const ManifestObject& one : *objects) {
    out += cat(one.document, " ", one.id.kind, " ", one.id.ns, "/", one.id.name, "\n");
  }
  return out;
}

std::string map(std::string_view name) {
  return cat("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ", name, "}\n");
}

// 04, 4: row 54.
TEST(Manifest, IsTakenApartInOrder) {
  EXPECT_EQ(
      shown(cat(map("a"), "---\n# nothing\n---\n---\n", map("b"),
                "--- # list\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: A, "
                "metadata: {name: c, namespace: ns1}}\n- {apiVersion: v1, kind: BList, items: "
                "[{apiVersion: v1, kind: B, metadata: {name: d}}]}\n---\nnull\n")),
      "1 ConfigMap /a\n4 ConfigMap /b\n5 A ns1/c\n5 B /d\n");
  EXPECT_EQ(shown(""), "");
  EXPECT_EQ(shown(cat("---\n", map("a"), "---")), "1 ConfigMap /a\n");
  EXPECT_EQ(shown(cat("\n# text\n---\r\n", map("a"))), "2 ConfigMap /a\n");
}

TEST(Manifest, IsNotSplitInsideABlockOfText) {
  const auto objects = parse_manifest(cat(map("a"), "data:\n  x: |\n    ---\n    b\n")).value();

  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(json::dump(*objects[0].object.find("data")), R"({"x":"---\nb\n"})");
}

TEST(Manifest, MayBeJsonObjectsBackToBack) {
  constexpr std::string_view kOne = R"({"apiVersion":"v1","kind":"A","metadata":{"name":"a}\"{"}})";

  EXPECT_EQ(shown(cat(kOne, "\n", kOne, kOne)), "1 A /a}\"{\n1 A /a}\"{\n1 A /a}\"{\n");
  EXPECT_EQ(shown("{apiVersion: v1, kind: 'A', metadata: {name: a}}"), "1 A /a\n");
  EXPECT_EQ(json::dump(parse_manifest(R"({"apiVersion":"v1","kind":"A","metadata":{"name":"a"},)"
                                      R"("x":"\ud83d\ude00\/"})")
                           .value()[0]
                           .object.find("x")
                           ->kind()),
            "\"a string\"");
}

// 04, 4: rows 65 and 66.
TEST(Manifest, IsRefusedWithTheNumberOfItsDocument) {
  EXPECT_EQ(shown(cat(map("a"), "---\napiVersion: v1\nmetadata: {name: b}\n")),
            "error: document 2: kind: missing");
  EXPECT_EQ(shown("kind: A\nmetadata: {name: b}\n"), "error: document 1: apiVersion: missing");
  EXPECT_THAT(shown("apiVersion: v1\nkind: A\nmetadata: {generateName: b}\n"),
              HasSubstr("error: document 1: metadata.name: missing: "));
  EXPECT_EQ(shown("apiVersion: v1\nkind: A\n"), "error: document 1: metadata.name: missing");
  EXPECT_EQ(shown("[1]"), "error: document 1: not an object but a list");
  EXPECT_THAT(shown(cat(map("a"), "a: 1\na: 2\n")), HasSubstr("occurs twice"));
  EXPECT_THAT(shown(R"({"apiVersion":"v1","apiVersion":"v1"})"), HasSubstr("occurs twice"));
  EXPECT_THAT(shown(cat(map("a"), "x: .inf\n")), HasSubstr("error: document 1: line 4"));
  EXPECT_THAT(shown(cat(map("a"), "x:\n\ty: 1\n")), HasSubstr("error: "));
  for (const std::string_view name : {".", "..", "a/b", "'a%2f'"}) {
    EXPECT_EQ(shown(map(name)), "error: document 1: metadata.name: not a name");
  }
  EXPECT_EQ(shown("apiVersion: v1\nkind: A\nmetadata: {name: a, namespace: ../x}\n"),
            "error: document 1: metadata.namespace: not a name");
}

TEST(Manifest, IsNotBlownUpByAliases) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    bomb += cat("a", i, ": &a", i, " [");
    for (int k = 0; k < 10; ++k) bomb += cat(k > 0 ? ", " : "", "*a", i - 1);
    bomb += "]\n";
  }

  EXPECT_THAT(shown(bomb), HasSubstr("error: document 1: "));
}

}  // namespace
}  // namespace mnet::cni_node
