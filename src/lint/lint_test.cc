#include "lint/lint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "lint/daemon_keys.h"
#include "lint/finding.h"
#include "lint/report.h"
#include "lint/spelling.h"

namespace mnet::lint {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kBad =
    "kind: NetworkAttachmentDefinition\nmetadata:\n  name: bad\nspec:\n  config: |\n"
    "    {\"name\": \"x\", \"plugins\": [\n      {\"type\": \"brigde\"}]}\n";

FilePtr file(std::string name, std::string_view text) {
  return std::make_shared<const File>(File{std::move(name), std::string(text)});
}

TEST(Lint, SaysWhereWhatAndWhatWasMeant) {
  const auto findings = lint({file("nad.yaml", kBad)}, {});

  EXPECT_EQ(to_text(findings, false),
            "nad.yaml:7:16 spec.config .plugins[0].type error MN012 default/bad: unknown type "
            "\"brigde\", did you mean \"bridge\"?\n");
  EXPECT_EQ(
      to_github(findings),
      "::error file=nad.yaml,line=7,col=16,title=MN012::default/bad: unknown type \"brigde\", "
      "did you mean \"bridge\"?\n");
  EXPECT_EQ(
      json::dump(to_json(findings)),
      R"({"version":1,"findings":[{"file":"nad.yaml","line":7,"column":16,"field":"spec.config",)"
      R"("path":".plugins[0].type","severity":"error","code":"MN012","object":"default/bad",)"
      R"("message":"unknown type \"brigde\", did you mean \"bridge\"?"}]})");
}

TEST(Lint, EscapesWhatGitHubWouldObey) {
  const auto findings = lint({file("a,b:c.yaml", "kind: 5%\n x: [\n")}, {});

  EXPECT_THAT(to_github(findings), StartsWith("::error file=a%2Cb%3Ac.yaml,"));
}

TEST(Lint, KnowsOnlyThePluginsOfTheNodeIfTheyAreGiven) {
  const std::string mine =
      "kind: NetworkAttachmentDefinition\nmetadata: {name: net}\nspec: {config: "
      "'{\"type\":\"mine\"}'}\n";

  EXPECT_TRUE(lint({file("n.yaml", mine)}, {}).empty());
  EXPECT_TRUE(lint({file("n.yaml", mine)}, {.plugins = {{"mine"}}}).empty());
  const auto findings =
      lint({file("n.yaml", mine)}, {.plugins = {{"bridge"}}, .plugins_from = "/bin"});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings.front().text, "no plugin \"mine\" in /bin");
}

TEST(Lint, MissesADefinitionOnlyIfItKnowsAllOfThem) {
  const std::string pod =
      "kind: Pod\nmetadata:\n  name: p\n  annotations: {k8s.v1.cni.cncf.io/networks: elsewhere}\n";

  EXPECT_TRUE(lint({file("p.yaml", pod)}, {}).empty());
  const auto findings = lint({file("p.yaml", pod)}, {.has_all_definitions = true});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings.front().code, "MN032");
}

TEST(Lint, TakesNamesWithOtherNumbersForOtherDefinitions) {
  const std::string net1 = "kind: NetworkAttachmentDefinition\nmetadata: {name: net-1}\n---\n";
  const std::string pod =
      "kind: Pod\nmetadata:\n  name: p\n  annotations: {k8s.v1.cni.cncf.io/networks: net-2}\n";

  EXPECT_TRUE(lint({file("p.yaml", net1 + pod)}, {}).empty());
}

TEST(Lint, ReadsListsAndPointsIntoTheirItems) {
  const auto findings =
      lint({file("l.yaml",
                 "kind: List\nitems:\n- kind: Pod\n  metadata:\n    name: p\n    annotations:\n"
                 "      k8s.v1.cni.cncf.io/networks: A\n")},
           {});

  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings.front().spot.line, 7);
  EXPECT_EQ(findings.front().spot.field, "metadata.annotations[\"k8s.v1.cni.cncf.io/networks\"]");
}

TEST(Lint, SaysNothingTwice) {
  EXPECT_EQ(lint({file("nad.yaml", kBad), file("nad.yaml", kBad)}, {}).size(), 2u);  // and MN003
}

TEST(Nearest, AllowsOneMistakeInAShortWordAndTwoInALongOne) {
  const std::vector<std::string_view> known = {"bridge", "ptp", "vlan"};

  EXPECT_EQ(nearest("brigde", known), "bridge");
  EXPECT_EQ(nearest("bidgee", known), "bridge");
  EXPECT_EQ(nearest("ptpp", known), "ptp");
  EXPECT_EQ(nearest("vxln", known), "");
  EXPECT_EQ(nearest("calico", known), "");
}

TEST(DaemonKeys, AreThoseOfTheReference) {
  std::ifstream reference("docs/reference.md");
  const std::string text(std::istreambuf_iterator<char>(reference), {});

  for (const std::string_view key : daemon_keys()) {
    EXPECT_THAT(text, HasSubstr(cat("`", key, "`")));
  }
  const std::size_t begin = text.find("## daemon-config.json");
  std::size_t rows = 0;
  for (const std::string_view line :
       split(text.substr(begin, text.find("\n## ", begin) - begin), '\n')) {
    if (!line.starts_with("| `")) continue;
    ++rows;
    EXPECT_THAT(daemon_keys(), testing::Contains(line.substr(3, line.find('`', 3) - 3)));
  }
  EXPECT_GT(rows, 30u);
}

}  // namespace
}  // namespace mnet::lint
