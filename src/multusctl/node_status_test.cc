#include "multusctl/node_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "json/json.h"

namespace mnet::multusctl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kGood =
    R"({"version":1,"multus":"0.1.0","node":"n1","ready":true,"reason":"",)"
    R"("primary":{"file":"/etc/cni/net.d/10-flannel.conflist","why":"the first by name"},)"
    R"("objects":{"from":"the API","lacks":""},"requests":{"running":2,"waiting":7},)"
    R"("delegates":{"running":4,"waiting":0},"containers":31,"pendingDels":0,"damagedDels":0,)"
    R"("podsWithoutNetworks":0,"missingPlugins":[],"certificateEnd":null,"tokenEnd":null,"lastErrors":[]})";

Result<NodeStatus> parse(std::string node, std::string_view text) {
  return NodeStatus::parse(std::move(node), json::parse_object(text).value());
}

std::string with_plugins(std::string_view plugins) {
  return cat(kGood.substr(0, kGood.size() - 1), R"(,"plugins":)", plugins, "}");
}

TEST(PluginsOfNodes, AreThoseThatOneNodeHasAtLeast) {
  const auto first = parse("n1", with_plugins(R"(["bridge","macvlan"])"));
  const auto second = parse("n2", with_plugins(R"(["bridge","sriov"])"));

  const auto plugins = plugins_of({*first, *second});

  ASSERT_TRUE(plugins.has_value()) << plugins.error().text();
  EXPECT_THAT(*plugins, ElementsAre("bridge", "macvlan", "sriov"));
}

TEST(PluginsOfNodes, AreNotKnownUnlessEachNodeTells) {
  const auto good = parse("n1", with_plugins(R"(["bridge"])"));
  const auto older = parse("n2", kGood);
  const auto unreadable = parse("n3", with_plugins("null"));
  const NodeStatus silent{.node = "n4", .status = {}, .why = "no answer within 10 s"};

  EXPECT_THAT(plugins_of({*good, *older}).error().text(), HasSubstr("node n2: "));
  EXPECT_THAT(plugins_of({*good, *unreadable}).error().text(), HasSubstr("node n3: "));
  EXPECT_EQ(plugins_of({*good, silent}).error().text(), "node n4: no answer within 10 s");
}

TEST(NodeStatus, IsOneRowForEachNode) {
  const auto good = parse("", kGood);
  ASSERT_TRUE(good.has_value()) << good.error().text();
  const NodeStatus silent{.node = "n2", .status = {}, .why = "no answer within 10 s"};

  EXPECT_EQ(status_table({*good, silent}, false).text(true),
            "NODE   VERSION   READY     PRIMARY               REQUESTS   DELEGATES   CONTAINERS   "
            "PENDING   MISSED\n"
            "n1     0.1.0     yes       10-flannel.conflist   2+7        4+0         31           "
            "0         0\n"
            "n2     ?         unknown   ?                     ?          ?           ?            "
            "?         ?\n");
  EXPECT_THAT(troubles_of(*good), IsEmpty());
  EXPECT_THAT(troubles_of(silent), ElementsAre("no answer within 10 s"));
}

TEST(NodeStatus, TellsWhatIsWrongAndWhatToDo) {
  std::string bad(kGood);
  const auto replace = [&bad](std::string_view from, std::string_view to) {
    bad.replace(bad.find(from), from.size(), to);
  };
  replace(R"("ready":true,"reason":"")", R"("ready":false,"reason":"no primary")");
  replace(R"("pendingDels":0)", R"("pendingDels":3)");
  replace(R"("missingPlugins":[])", R"("missingPlugins":["macvlan"])");
  replace(R"("lastErrors":[])", R"("lastErrors":["a","b"])");
  const auto node = parse("n1", bad);

  ASSERT_TRUE(node.has_value());
  EXPECT_THAT(troubles_of(*node),
              ElementsAre("not ready: no primary", HasSubstr("missing on the node: macvlan"),
                          HasSubstr("3 pending DELs")));
  EXPECT_THAT(troubles_of(*node, Beside::kSelfCheck),
              ElementsAre("not ready: no primary", HasSubstr("3 pending DELs")));
  EXPECT_EQ(last_error_of(*node), "last error: b");
}

TEST(NodeStatus, ShowsNothingOfANodeThatATerminalObeys) {
  const auto status =
      parse("", R"({"version":1,"node":"a\u001b[2J","multus":"\u001b]0;x","reason":"\u001b[31m"})");

  ASSERT_TRUE(status);
  EXPECT_EQ(status->node, "a\\x1b[2J");
  for (const std::string& trouble : troubles_of(*status)) {
    EXPECT_EQ(trouble.find('\x1b'), std::string::npos) << trouble;
  }
}

TEST(NodeStatus, RefusesAVersionThatItDoesNotKnow) {
  EXPECT_FALSE(parse("n", R"({"version":2})").has_value());
}

}  // namespace
}  // namespace mnet::multusctl
