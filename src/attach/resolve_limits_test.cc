// What a pod may select, and how much of it: namespaces, types, sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "aio/blocking_pool.h"
#include "attach/pod_fixture.h"
#include "attach/ports.h"
#include "attach/room.h"
#include "attach/source.h"
#include "base/text.h"
#include "model/requested_networks.h"

namespace mnet::attach {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

// 02, 12: row 46; pain 48
TEST_F(ResolverTest, KeepsPodsToTheirNamespaceAndTheAllowedOnes) {
  for (const char* ns : {"ns1", "default", "foreign"}) add_network(ns, "n", R"({"type":"t"})");
  const std::string isolated = path_and(R"("namespaceIsolation":true)");

  select("n,ns1/n,default/n");
  EXPECT_THAT(names(resolve(isolated)), ElementsAre("c", "ns1/n", "ns1/n", "default/n"));
  select("n,foreign/n");
  EXPECT_EQ(
      error_of(isolated),
      "error loading k8s delegates k8s args: namespace isolation enabled, annotation violates "
      "permission, pod is in namespace ns1 but refers to target namespace foreign; take a network "
      "of ns1, "
      "or name foreign in globalNamespaces");
  EXPECT_THAT(node_.source.events, ElementsAre(StartsWith("Warning InterfaceAddRejected: ")));
  EXPECT_THAT(names(resolve()), ElementsAre("c", "ns1/n", "foreign/n"));
  EXPECT_THAT(names(resolve(cat(isolated, R"(,"globalNamespaces":"x, foreign")"))), SizeIs(3));
}

// 02, 12: row 47
TEST_F(ResolverTest, ReplacesTheAllowedNamespacesByTheConfiguredOnes) {
  add_network("default", "n", R"({"type":"t"})");
  select("default/n");
  EXPECT_THAT(error_of(path_and(R"("namespaceIsolation":true,"globalNamespaces":"x")")),
              HasSubstr("namespace isolation enabled"));
}

// 02, 12: row 45; pain 48
TEST_F(ResolverTest, KeepsTheDefaultNetworkToTheSameNamespacesAndMultussOwn) {
  for (const char* ns : {"kube-system", "ns1", "foreign"}) add_network(ns, "n", R"({"type":"t"})");
  const std::string isolated = path_and(R"("namespaceIsolation":true)");
  const std::string key(model::kDefaultNetworkAnnotation);

  annotate({{key, "foreign/n"}});
  EXPECT_THAT(error_of(isolated), HasSubstr("namespace isolation enabled"));
  annotate({{key, "n"}});
  EXPECT_THAT(names(resolve(isolated)), ElementsAre("kube-system/n"));
  annotate({{key, "ns1/n"}});
  EXPECT_THAT(names(resolve(isolated)), ElementsAre("ns1/n"));
  // Only there: a networks element needs the list.
  select("kube-system/n");
  EXPECT_THAT(error_of(isolated), HasSubstr("namespace isolation enabled"));
}

TEST_F(ResolverTest, DoesNotRestrictTheConfiguredNetworks) {
  add_network("kube-system", "n", R"({"type":"t"})");
  EXPECT_THAT(names(resolve(R"("clusterNetwork":"n","namespaceIsolation":true)")),
              ElementsAre("kube-system/n"));
}
// What a pod or a definition may make of the daemon's time and memory, and what it may not.
std::string repeated(const std::string& name, std::size_t count) {
  std::string text = name;
  for (std::size_t i = 1; i < count; ++i) text += cat(",", name);
  return text;
}

class ResolverLimits : public ResolverTest {};

TEST_F(ResolverLimits, RefusesTenThousandNetworksBeforeLookingForOne) {
  add_network("ns1", "a", R"({"type":"t"})");
  select(repeated("a", 10'000));

  EXPECT_THAT(error_of(), HasSubstr("asks for 10000 networks, more than 1000"));
  EXPECT_THAT(node_.source.asked, IsEmpty());
}

TEST_F(ResolverLimits, TakesTheSameNetworkAsOftenAsItIsNamed) {
  add_network("ns1", "a", R"({"type":"t"})");
  select(repeated("a", 700));
  EXPECT_THAT(names(resolve()), SizeIs(701));
}

TEST_F(ResolverLimits, HasAllNetworksOfARequestReadWithinOneLimit) {
  std::string networks = "n0";
  for (int i = 1; i < 100; ++i) networks += cat(",n", i);
  select(networks);

  EXPECT_THAT(error_of(), HasSubstr("(n0)"));
  EXPECT_THAT(node_.source.asked, SizeIs(100));
  EXPECT_THAT(node_.source.limits, ElementsAre(testing::NotNull()));
  EXPECT_THAT(node_.source.events, SizeIs(LiveReads::kMost));
}

TEST_F(ResolverLimits, TakesAConfigurationOfHalfAMegabyteAndNotAnyNumberOfThem) {
  const std::string text =
      cat(R"({"name":"a","type":"t","x":")", std::string(500'000, 'x'), R"("})");
  add_network("ns1", "a", text);

  select("a");
  auto resolved = resolve();
  ASSERT_TRUE(resolved) << resolved.error().text();
  EXPECT_EQ(resolved->delegates[1].bytes, text);

  select(repeated("a", 100));
  EXPECT_THAT(error_of(), HasSubstr(cat("more than ", kLargestWeight, " bytes")));
}

TEST_F(ResolverLimits, CountsTheValuesOfAllConfigurationsBeforeItReadsOne) {
  std::string zeros = "0";
  while (zeros.size() < 6'000) zeros += ",0";
  add_network("ns1", "a", cat(R"({"name":"a","type":"t","x":[)", zeros, "]}"));

  select("a,a,a");
  EXPECT_THAT(names(resolve()), SizeIs(4));

  select("a,a,a,a");
  EXPECT_THAT(error_of(), HasSubstr("more than 10000 values"));
}

// The author of the pod chooses the one, the author of the definition the other.
TEST_F(ResolverLimits, CountsTheArgumentsOfAPodForEveryPluginOfAList) {
  std::string plugins = R"({"type":"t"})";
  for (int i = 0; i < 45; ++i) plugins += R"(,{"type":"t"})";
  add_network("ns1", "many", cat(R"({"name":"many","plugins":[)", plugins, "]}"));
  add_network("ns1", "one", R"({"name":"one","type":"t"})");
  const std::string args = cat(R"(","cni-args":{"a":")", std::string(100'000, '<'), R"("}}])");

  select(cat(R"([{"name":"one)", args));
  EXPECT_THAT(names(resolve()), SizeIs(2));

  select(cat(R"([{"name":"many)", args));
  EXPECT_THAT(error_of(), HasSubstr(cat("more than ", kLargestWeight, " bytes")));
}

TEST_F(ResolverLimits, RefusesConfigurationsNestedTooDeeply) {
  add_network("ns1", "a",
              cat(R"({"type":"t","x":)", std::string(2000, '['), std::string(2000, ']'), "}"));
  select("a");
  EXPECT_THAT(error_of(), HasSubstr("failed to unmarshal Spec.Config"));
}

TEST_F(ResolverLimits, PassesOnBytesThatAreNotUtf8OnlyWhereNothingIsChanged) {
  const std::string text = "{\"name\":\"a\",\"type\":\"t\",\"x\":\"\xff\"}";
  add_network("ns1", "a", text);

  select(R"([{"name":"a"},{"name":"a","cni-args":{}}])");
  auto resolved = resolve();

  ASSERT_TRUE(resolved) << resolved.error().text();
  EXPECT_EQ(resolved->delegates[1].bytes, text);
  EXPECT_THAT(resolved->delegates[2].bytes, HasSubstr("\xef\xbf\xbd"));
}

TEST_F(ResolverLimits, SurvivesAnAnnotationThatIsNotUtf8) {
  select("a\xff");
  EXPECT_THAT(error_of(), HasSubstr("did not match comma-delimited format"));
  select("[{\"name\":\"\xff\"}]");
  EXPECT_THAT(error_of(), HasSubstr("cannot find a network-attachment-definition"));
}

// What the configuration lets pods select.
class AllowedTypes : public ResolverTest {
 protected:
  static std::string only(const std::string& types) {
    return path_and(cat(R"("allowedPluginTypes":)", types));
  }
};

// 02, 12: row 60; pain 48
TEST_F(AllowedTypes, BindWhatAPodSelectsInChainsAsIpamAndAtEveryDepth) {
  for (const char* config :
       {R"({"type":"evil"})", R"({"type":"bridge","ipam":{"type":"evil"}})",
        R"({"type":"bridge","ipam":{"TYPE":"evil"}})",
        R"({"type":"evil","type":"bridge","d":[[{"type":"evil"}]]})",
        R"({"plugins":[{"type":"bridge"},{"type":"evil"}]})",
        R"({"plugins":[{"type":"bridge","ipam":{"type":"evil"}}]})",
        R"({"type":"bridge","delegate":{"ipam":{"ty\u0070e":"ev\u0069l"}}})"}) {
    add_network("ns1", "a", config);
    select("a");
    EXPECT_THAT(error_of(only(R"(["bridge","static"])")),
                AllOf(HasSubstr("network-attachment-definition (a) in namespace (ns1)"),
                      HasSubstr("\"evil\" is not among allowedPluginTypes (bridge, static)")))
        << config;
    EXPECT_THAT(names(resolve(only(R"(["bridge","evil"])"))), ElementsAre("c", "ns1/a")) << config;
    EXPECT_THAT(names(resolve(only("null"))), ElementsAre("c", "ns1/a")) << config;
  }
}

TEST_F(AllowedTypes, BindTheDefaultNetworkAnnotationAndFilesThatDefinitionsName) {
  add_network("kube-system", "m", R"({"type":"evil"})");
  annotate({{std::string(model::kDefaultNetworkAnnotation), "m"}});
  EXPECT_THAT(error_of(only("[]")),
              HasSubstr("type \"evil\" is not among allowedPluginTypes (which is empty)"));

  node_.networks.named["f"] = R"({"name":"f","type":"evil"})";
  add_network("ns1", "f", "");
  select("f");
  EXPECT_THAT(error_of(only(R"(["bridge"])")), HasSubstr("type \"evil\" is not among"));
}

TEST_F(AllowedTypes, BindTheArgumentsOfAPod) {
  add_network("ns1", "a", R"({"type":"bridge"})");
  select(R"([{"name":"a","cni-args":{"x":[{"type":"evil"}]}}])");
  EXPECT_THAT(error_of(only(R"(["bridge"])")),
              HasSubstr("cni-args of the pod's annotation: x[0].type \"evil\" is not among"));
}

TEST_F(AllowedTypes, DoNotBindWhatTheConfigurationGivesEveryPod) {
  node_.networks.configs["/n/d.conf"] = R"({"name":"d","type":"other"})";
  add_network("kube-system", "k", R"({"type":"third"})");
  EXPECT_THAT(
      names(resolve(only(R"([],"defaultNetworks":["/n/d.conf","k"],"auxiliaryCNIChainName":"x")"))),
      ElementsAre("c", "d", "kube-system/k"));
}

TEST_F(AllowedTypes, AreToldToThePod) {
  add_network("ns1", "a", R"({"type":"evil"})");
  select("a");
  EXPECT_NE(error_of(only("[]")), "no error");
  EXPECT_THAT(node_.source.events,
              ElementsAre(AllOf(HasSubstr("Warning InvalidNetwork: "),
                                HasSubstr("type \"evil\" is not among allowedPluginTypes"))));
}

class DefaultNetworkNamespaces : public ResolverTest {
 protected:
  DefaultNetworkNamespaces() {
    for (const char* ns : {"kube-system", "ns1", "net"}) {
      add_network(ns, "m", R"({"type":"t"})");
    }
  }
  std::string choose(const std::string& network, const std::string& members) {
    annotate({{std::string(model::kDefaultNetworkAnnotation), network}});
    auto resolved = resolve(path_and(members));
    return resolved ? resolved->delegates.front().name : resolved.error().text();
  }
};

// 02, 12: row 45; pain 48
TEST_F(DefaultNetworkNamespaces, NarrowWhereTheAnnotationMayTakeItsDefinitionFrom) {
  const std::string only_net = R"("defaultNetworkNamespaces":["net"])";
  EXPECT_EQ(choose("net/m", only_net), "net/m");
  for (const char* other : {"m", "kube-system/m", "ns1/m"}) {
    EXPECT_THAT(choose(other, only_net),
                HasSubstr("which is not among defaultNetworkNamespaces; remove the annotation"));
  }
  EXPECT_THAT(choose("net/m", R"("defaultNetworkNamespaces":[])"), HasSubstr("is not among"));
  EXPECT_THAT(node_.source.events.back(), HasSubstr("Warning InterfaceAddRejected: "));
  for (const char* any : {"kube-system/m", "ns1/m", "net/m"}) {
    EXPECT_EQ(choose(any, R"("defaultNetworkNamespaces":null)"), any);
  }
}

TEST_F(DefaultNetworkNamespaces, DoNotWidenWhatIsolationAllows) {
  const std::string isolated =
      R"("namespaceIsolation":true,"defaultNetworkNamespaces":["net","kube-system"])";
  EXPECT_EQ(choose("m", isolated), "kube-system/m");
  EXPECT_THAT(choose("net/m", isolated), HasSubstr("namespace isolation enabled"));
  EXPECT_THAT(choose("ns1/m", isolated), HasSubstr("is not among defaultNetworkNamespaces"));
  EXPECT_EQ(choose("net/m", cat(isolated, R"(,"globalNamespaces":"net")")), "net/m");
}

TEST_F(DefaultNetworkNamespaces, LeaveTheNetworksAnnotationAlone) {
  select("net/m");
  EXPECT_THAT(names(resolve(path_and(R"("defaultNetworkNamespaces":[])"))),
              ElementsAre("c", "net/m"));
}

class LongAnnotations : public ResolverTest {
 protected:
  // Threads that reading an annotation of so many bytes took.
  std::size_t threads_for(std::size_t bytes) {
    aio::BlockingPool pool(1);
    Ports ports = node_.cluster_ports();
    ports.pool = &pool;
    select(cat("a", std::string(bytes - 1, ' ')));
    EXPECT_THAT(names(resolve_with(ports, path_and({}))), ElementsAre("c", "ns1/a"));
    return pool.threads();
  }
};

TEST_F(LongAnnotations, AreReadOnAThreadOfThePool) {
  add_network("ns1", "a", R"({"type":"t"})");
  EXPECT_EQ(threads_for(model::kLongAnnotation), 0u);
  EXPECT_EQ(threads_for(model::kLongAnnotation + 1), 1u);
}

TEST_F(LongAnnotations, AreRefusedWithTheSameWords) {
  aio::BlockingPool pool(1);
  Ports ports = node_.cluster_ports();
  ports.pool = &pool;
  select(cat("a", std::string(model::kLongAnnotation, ',')));

  const auto resolved = resolve_with(ports, path_and({}));

  ASSERT_FALSE(resolved);
  EXPECT_THAT(resolved.error().text(), HasSubstr("asks for 16385 networks, more than 1000"));
  EXPECT_THAT(node_.source.asked, IsEmpty());
}
}  // namespace
}  // namespace mnet::attach
