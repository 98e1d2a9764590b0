#include "lint/lint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/json.h"
#include "lint/finding.h"
#include "lint/report.h"
#include "lint/text.h"

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

TEST(Lint, SuggestsTheTypeThatWasMeantWhateverPluginsThereAre) {
  const std::string misspelt =
      "kind: NetworkAttachmentDefinition\nmetadata: {name: net}\nspec: {config: "
      "'{\"type\":\"brigde\"}'}\n";

  const auto findings =
      lint({file("n.yaml", misspelt)}, {.plugins = {{"bridge"}}, .plugins_from = "/bin"});

  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings.front().text, "unknown type \"brigde\", did you mean \"bridge\"?");
}

std::string definition_of(std::string_view config) {
  return cat("kind: NetworkAttachmentDefinition\nmetadata: {name: net}\nspec:\n  config: |\n    ",
             config, "\n");
}

TEST(Lint, SaysNothingOfUnusualValuesThatPluginsTake) {
  for (
      const std::string_view config :
      {R"({"type":"macvlan","master":"an-alternative-name-of-a-link","mode":"","mac":null})",
       R"({"type":"bridge","bridge":"","vlanTrunk":[{"minID":1,"maxID":4094},{"id":7}]})",
       R"({"type":"ptp","ipam":{"type":"host-local","subnet":"10.1.0.0/24","gateway":"10.9.0.1"}})",
       R"({"type":"bridge","ipam":{"type":"host-local","subnet":"fd00::/64","gateway":"fe80::1"}})",
       R"({"type":"bridge","capabilities":{"ipRanges":true},"ipam":{"type":"host-local"}})",
       R"({"type":"bridge","ipam":{"type":"host-local","ranges":[[{"subnet":"10.1.0.0/24"}],[{"subnet":"fd00::/64"}]]}})",
       R"({"plugins":[{"type":"mine"},{"type":"tuning","sysctl":{"net.ipv4.conf.IFNAME.arp_notify":"1"}},
            {"type":"bandwidth","capabilities":{"bandwidth":true}},{"type":"sbr"}]})"}) {
    const auto findings = lint({file("n.yaml", definition_of(config))}, {});
    EXPECT_TRUE(findings.empty()) << to_text(findings, false) << config;
  }
}

TEST(Lint, TellsNoOtherKindsOfTheGroupThatTheyAreMisspelt) {
  const std::string policy =
      "apiVersion: k8s.cni.cncf.io/v1beta1\nkind: MultiNetworkPolicy\nmetadata: {name: p}\n"
      "---\napiVersion: k8s.cni.cncf.io/v1\nkind: Other\nmetadata: {name: p}\n";

  EXPECT_TRUE(lint({file("p.yaml", policy)}, {}).empty());
}

TEST(Lint, MissesADefinitionOnlyIfItKnowsAllOfThem) {
  const std::string pod =
      "kind: Pod\nmetadata:\n  name: p\n  annotations: {k8s.v1.cni.cncf.io/networks: elsewhere}\n";

  EXPECT_TRUE(lint({file("p.yaml", pod)}, {}).empty());
  const auto findings = lint({file("p.yaml", pod)}, {.has_all_definitions = true});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings.front().code, "MN032");
}

TEST(Lint, PutsWhatNamesNoNamespaceWhereItIsToldTo) {
  const std::string pod =
      "kind: Pod\nmetadata:\n  name: p\n  annotations: {k8s.v1.cni.cncf.io/networks: lan}\n";
  const std::string lan =
      "kind: NetworkAttachmentDefinition\nmetadata: {name: lan, namespace: net}\n"
      "spec: {config: '{\"cniVersion\":\"1.0.0\",\"name\":\"l\",\"type\":\"bridge\"}'}\n";
  const std::vector<FilePtr> files = {file("p.yaml", pod), file("lan.yaml", lan)};

  EXPECT_TRUE(lint(files, {.ns = "net", .has_all_definitions = true}).empty());
  const auto findings = lint(files, {.ns = "other", .has_all_definitions = true});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings.front().text, HasSubstr("no definition other/lan"));
}

// A tenant chooses how many names there are, and looking for the nearest one takes a while.
TEST(Lint, SuggestsNamesForTheFirstFewMissingDefinitionsOfAPod) {
  std::string pod =
      "kind: Pod\nmetadata:\n  name: p\n  annotations: {k8s.v1.cni.cncf.io/networks: '";
  for (char c = 'a'; c <= 'l'; ++c) pod += cat(c == 'a' ? "" : ",", "storag", c);
  pod += "'}\n---\n";
  const std::string definition = "kind: NetworkAttachmentDefinition\nmetadata: {name: storage}\n";

  const auto findings = lint({file("p.yaml", pod + definition)}, {.has_all_definitions = true});

  const auto with = std::ranges::count_if(
      findings, [](const Finding& one) { return one.text.contains("did you mean \"storage\""); });
  EXPECT_EQ(findings.size(), 11u);  // one of the twelve is there
  EXPECT_EQ(with, 10);
}

TEST(Lint, LooksForNoNearestNameAmongVeryMany) {
  std::string all = "kind: NetworkAttachmentDefinition\nmetadata: {name: storage}\n";
  for (int i = 0; i < 500; ++i) {
    all += cat("---\nkind: NetworkAttachmentDefinition\nmetadata: {name: n", i, "}\n");
  }
  const std::string pod =
      "---\nkind: Pod\nmetadata:\n  name: p\n  annotations: {k8s.v1.cni.cncf.io/networks: "
      "storagx}\n";

  const auto findings = lint({file("p.yaml", all + pod)}, {.has_all_definitions = true});

  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings.front().text, "no definition default/storagx");
}

// An author may write thousands.
TEST(Lint, ComparesOnlySoManyRangesWithEachOther) {
  const auto definition = [](std::string_view name, std::string_view subnet) {
    return cat("---\nkind: NetworkAttachmentDefinition\nmetadata: {name: ", name,
               "}\nspec: {config: '{\"cniVersion\":\"1.0.0\",\"type\":\"bridge\",\"bridge\":\"b0\","
               "\"ipam\":{\"type\":\"host-local\",\"subnet\":\"",
               subnet, "\"}}'}\n");
  };
  std::string all;
  for (int i = 0; i < 2000; ++i) {
    all += definition(cat("n", i), cat("10.", i / 250, ".", i % 250, ".0/24"));
  }
  all += definition("like-the-first", "10.0.0.0/24") + definition("beyond", "10.200.0.0/24") +
         definition("like-beyond", "10.200.0.0/24");

  std::vector<std::string> overlapping;
  for (const Finding& one : lint({file("n.yaml", all)}, {})) {
    if (one.code == "MN016") overlapping.push_back(one.object);
  }

  EXPECT_THAT(overlapping, testing::ElementsAre("default/like-the-first"));
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

TEST(LintOfFragments, ReadsThemAsTheDaemonDoes) {
  const auto main =
      file("etc/daemon-config.json", R"({"cniVersion":"0.3.1","namespaceIsolation":true})");

  const auto wrong = lint({main, file("etc/daemon-config.d/10-a.json", R"({"binDir":5})")}, {});
  const auto misspelt =
      lint({main, file("etc/daemon-config.d/10-a.json", R"({"logOptions":{"maxSise":5}})")}, {});

  EXPECT_THAT(to_text(wrong, false),
              HasSubstr("daemon-config.d/10-a.json:1:11 .binDir error MN050"));
  EXPECT_THAT(to_text(misspelt, false),
              HasSubstr("10-a.json:1:16 .logOptions.maxSise warning MN051 "
                        "etc/daemon-config.d/10-a.json: unknown key \"maxSise\" has no effect, "
                        "did you mean \"maxSize\"?"));
}

TEST(LintOfFragments, TellsWhatHasNoEffectBesideTheOtherParts) {
  const auto main = file("daemon-config.json", R"({"cniVersion":"0.3.1"})");
  const auto pprof = file("daemon-config.d/10-a.json", R"({"enablePprof":true})");
  const auto port = file("daemon-config.d/20-b.json", R"({"metricsPort":9091})");
  const auto nothing = file("elsewhere/daemon-config.d/20-b.json", R"({"metricsPort":9091})");

  EXPECT_THAT(to_text(lint({main, pprof}, {}), false),
              StartsWith("daemon-config.d/10-a.json:1:16 .enablePprof warning MN052"));
  EXPECT_TRUE(lint({main, port, pprof}, {}).empty());
  EXPECT_EQ(lint({main, nothing, pprof}, {}).size(), 1u);
  EXPECT_TRUE(lint({pprof}, {}).empty()) << "the rest of the configuration is not known";
}

TEST(LintOfFragments, JudgesOtherFilesByTheMergedConfiguration) {
  const auto main = file("daemon-config.json", R"({"cniVersion":"0.3.1"})");
  const auto fragment = file("daemon-config.d/10-a.json", R"({"allowedPluginTypes":["ptp"]})");
  const auto net = file("n.yaml",
                        "kind: NetworkAttachmentDefinition\nmetadata: {name: net}\nspec: {config: "
                        "'{\"type\":\"bridge\"}'}\n");

  EXPECT_TRUE(lint({main, net}, {}).empty());
  EXPECT_THAT(to_text(lint({main, fragment, net}, {}), false), HasSubstr("MN024 default/net"));
}

TEST(LintOfFragments, FindsThemInTheDaemonsConfigMap) {
  const auto map = file("map.yaml",
                        "kind: ConfigMap\nmetadata: {name: multus-daemon-config}\ndata:\n"
                        "  daemon-config.json: '{\"cniVersion\":\"0.3.1\"}'\n"
                        "  90-local.json: '{\"namespaceIsolaton\":true}'\n");

  const auto findings = lint({map}, {});

  ASSERT_EQ(findings.size(), 1u) << to_text(findings, false);
  EXPECT_EQ(findings.front().code, "MN051");
  EXPECT_EQ(findings.front().spot.line, 5);
}

}  // namespace
}  // namespace mnet::lint
