#include "attach/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aio/event.h"
#include "aio/run.h"
#include "aio/task.h"
#include "attach/core.h"
#include "attach/fake_ports.h"
#include "attach/plan.h"
#include "attach/pod_fixture.h"
#include "attach/ports.h"
#include "attach/request.h"
#include "attach/request_text.h"
#include "attach/source.h"
#include "base/address_family.h"
#include "base/error.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "model/attachment.h"
#include "model/delegate.h"
#include "model/objects.h"
#include "model/requested_networks.h"
#include "model/scratch.h"

namespace mnet::attach {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

TEST_F(ResolverTest, PutsThePodsNetworksBehindTheConfiguredOnes) {
  add_network("ns1", "a", R"({"type":"ta"})");
  add_network("other", "b", R"({"type":"tb"})");
  node_.networks.configs["/n/d.conf"] = R"({"name":"d","type":"fake"})";
  select("a,other/b");

  auto resolved = resolve(path_and(R"("defaultNetworks":["/n/d.conf"])"));

  EXPECT_THAT(names(resolved), ElementsAre("c", "d", "ns1/a", "other/b"));
  EXPECT_TRUE(resolved->delegates[0].is_master);
  EXPECT_FALSE(resolved->delegates[2].is_master);
  EXPECT_EQ(resolved->delegates[0].source, model::Source::kCluster);
  EXPECT_EQ(resolved->delegates[1].source, model::Source::kDefaultNetworks);
  EXPECT_EQ(resolved->delegates[2].source, model::Source::kAnnotation);
  EXPECT_THAT(node_.source.events, IsEmpty());
}

// 02, 12: rows 48, 157; pain 40
TEST_F(ResolverTest, FailsForADefinitionThatIsNotThereAndTellsThePod) {
  add_network("ns1", "a", R"({"type":"ta"})");
  select("a,gone,other/lost");

  EXPECT_EQ(
      error_of(),
      "error loading k8s delegates k8s args: failed getting the delegate: cannot find a "
      "network-attachment-definition (gone) in namespace (ns1): "
      "network-attachment-definitions.k8s.cni.cncf.io \"gone\" not found; create it, or correct "
      "the pod's annotation");
  EXPECT_THAT(node_.source.events,
              ElementsAre(StartsWith("Warning NoNetworkFound: cannot find a "
                                     "network-attachment-definition (gone) in namespace (ns1): "),
                          HasSubstr("(lost) in namespace (other)")));

  // Word for word the same each time: the source can count instead of repeating.
  const std::vector<std::string> first = node_.source.events;
  node_.source.events.clear();
  error_of();
  EXPECT_EQ(node_.source.events, first);
}

// 02, 12: row 39
TEST_F(ResolverTest, TreatsANameThatCannotExistAsNotFound) {
  select(R"([{"name":"../../secrets"}])");
  EXPECT_THAT(error_of(), HasSubstr("cannot find a network-attachment-definition"));
  select("[{}]");
  EXPECT_THAT(error_of(), HasSubstr("cannot find a network-attachment-definition ()"));
}

// 02, 12: row 154
TEST_F(ResolverTest, TakesAnyPodNamespaceAndNumbersForNames) {
  add_network("ns1", "5", R"({"type":"t"})");
  select("5");
  EXPECT_THAT(names(resolve()), ElementsAre("c", "ns1/5"));

  model::PodObject odd;
  odd.ns = "NS_1";
  odd.name = "p1";
  odd.annotations = {{std::string(model::kNetworksAnnotation), R"([{"name":"a"}])"}};
  node_.source.pods["ns1/p1"] = std::make_shared<const model::PodObject>(odd);
  add_network("NS_1", "a", R"({"type":"t"})");
  EXPECT_THAT(names(resolve()), ElementsAre("c", "NS_1/a"));
}

TEST_F(ResolverTest, FailsWhenTheSourceCannotTell) {
  select("a");
  node_.source.network_error = Error(Errc::kUnavailable, "connection refused");

  auto resolved = resolve();

  EXPECT_THAT(resolved.error().text(), HasSubstr("in namespace (ns1): connection refused"));
  EXPECT_EQ(resolved.error().code(), Errc::kUnavailable);
  EXPECT_THAT(node_.source.events, SizeIs(1));
}

// 02, 12: row 50
TEST_F(ResolverTest, TakesTheFileOfThatNameForADefinitionWithoutConfiguration) {
  add_network("ns1", "n", "");
  auto bare = std::make_shared<model::NetworkDefinition>();
  bare->ns = "ns1";
  bare->name = "m";
  node_.source.networks["ns1/m"] = bare;
  node_.networks.named["n"] = R"({ "name":"n", "type":"of-file" })";
  node_.networks.named["m"] = R"({"name":"m","plugins":[{"type":"list"}]})";
  select("n,m");

  auto resolved = resolve();

  ASSERT_THAT(names(resolved), ElementsAre("c", "ns1/n", "ns1/m"));
  EXPECT_EQ(resolved->delegates[1].bytes, R"({ "name":"n", "type":"of-file" })");
  EXPECT_EQ(resolved->delegates[1].cni_name, "n");
  EXPECT_THAT(resolved->delegates[2].types, ElementsAre("list"));
}

// 02, 12: row 52
TEST_F(ResolverTest, FailsForADefinitionWithoutConfigurationAndFile) {
  add_network("ns1", "n", "");
  select("n");

  EXPECT_THAT(error_of(), AllOf(HasSubstr("network-attachment-definition (n) in namespace (ns1)"),
                                HasSubstr("no network available in the name n")));
  EXPECT_THAT(node_.source.events, SizeIs(1));
}

// 02, 12: row 54; pain 30
TEST_F(ResolverTest, RefusesADefinitionThatIsNoConfiguration) {
  for (const char* config : {"null", "[]", "\"x\"", "  ", "{", "{} {}", "5"}) {
    add_network("ns1", "n", config);
    select("n");
    EXPECT_THAT(error_of(), HasSubstr("failed to unmarshal Spec.Config")) << config;
  }
  add_network("ns1", "n", R"({"cniVersion":"1.0.0"})");
  EXPECT_THAT(error_of(), HasSubstr("delegate must have the 'type' or 'plugin' field"));
  EXPECT_THAT(node_.source.events.back(), HasSubstr("network-attachment-definition (n)"));
}

// 02, 12: row 56
TEST_F(ResolverTest, FindsTheClusterNetworkAsADefinition) {
  add_network("kube-system", "cluster", R"({"type":"t"})");

  auto resolved = resolve(R"("clusterNetwork":"cluster")");

  ASSERT_THAT(names(resolved), ElementsAre("kube-system/cluster"));
  EXPECT_TRUE(resolved->delegates[0].is_master);
  EXPECT_EQ(resolved->delegates[0].cni_name, "cluster");
  EXPECT_THAT(node_.source.events, IsEmpty());
}

// 02, 12: row 57
TEST_F(ResolverTest, FindsTheClusterNetworkAsAFileWithoutAnEvent) {
  node_.networks.named["cluster"] = R"({"name":"cluster","plugins":[{"type":"t"}]})";

  auto resolved = resolve(R"("clusterNetwork":"cluster","multusNamespace":"net")");

  EXPECT_THAT(names(resolved), ElementsAre("cluster"));
  EXPECT_THAT(node_.source.asked, ElementsAre("net/cluster"));
  EXPECT_THAT(node_.source.events, IsEmpty());
}

// 02, 12: row 65
TEST_F(ResolverTest, SaysWhichClusterNetworkIsMissingAndWhy) {
  EXPECT_THAT(error_of(R"("clusterNetwork":"gone")"),
              AllOf(StartsWith("failed to get clusterNetwork/defaultNetworks: failed to get "
                               "clusterNetwork gone in namespace kube-system: cannot find network"),
                    HasSubstr("no network available in the name gone in cni dir")));
  EXPECT_THAT(node_.source.events,
              ElementsAre(StartsWith("Warning NoNetworkFound: cannot find a network-attachment-"
                                     "definition (gone) in namespace (kube-system): ")));
  EXPECT_THAT(error_of(path_and(R"("defaultNetworks":["lost"])")),
              HasSubstr("failed to get default network lost: cannot find network"));
}

TEST_F(ResolverTest, TakesNoFileWhenTheDefinitionCannotBeUsed) {
  node_.networks.named["cluster"] = R"({"name":"cluster","type":"of-file"})";
  add_network("kube-system", "cluster", "{");
  EXPECT_THAT(error_of(R"("clusterNetwork":"cluster")"),
              HasSubstr("failed to unmarshal Spec.Config"));

  node_.source.network_error = Error(Errc::kUnavailable, "connection refused");
  EXPECT_THAT(error_of(R"("clusterNetwork":"cluster")"), HasSubstr("connection refused"));
}

// 02, 12: row 58
TEST_F(ResolverTest, TakesNoFileWhenTheDevicesCannotBeAskedFor) {
  node_.networks.named["cluster"] = R"({"name":"cluster","type":"of-file"})";
  add_network("kube-system", "cluster", R"({"type":"sriov"})", "intel.com/vf");
  node_.devices.error = Error(Errc::kUnavailable, "failed to get resourceMap from ResourceClient");

  EXPECT_THAT(error_of(R"("clusterNetwork":"cluster")"),
              AllOf(HasSubstr("failed to get clusterNetwork cluster in namespace kube-system"),
                    HasSubstr("failed to get resourceMap from ResourceClient")));
}

// 02, 12: row 60
TEST_F(ResolverTest, RefusesMultusItselfFromEverySource) {
  add_network("kube-system", "m", R"({"type":"multus"})");
  node_.networks.named["f"] = R"({"name":"f","plugins":[{"type":"a"},{"type":"multus-shim"}]})";
  add_network("kube-system", "f2", "");
  node_.networks.named["f2"] = R"({"name":"f2","type":"multus"})";
  for (const char* name : {"m", "f", "f2"}) {
    const std::string quoted = go_quoted(name);
    EXPECT_THAT(error_of(cat(R"("clusterNetwork":)", quoted)), HasSubstr("is multus itself"));
    EXPECT_THAT(error_of(path_and(cat(R"("defaultNetworks":[)", quoted, "]"))),
                HasSubstr("is multus itself"));
  }
  for (const char* name : {"kube-system/m", "kube-system/f2"}) {
    select(name);
    EXPECT_THAT(error_of(), HasSubstr("is multus itself")) << name;
    annotate({{std::string(model::kDefaultNetworkAnnotation), name}});
    EXPECT_THAT(error_of(), HasSubstr("is multus itself")) << name;
  }
  select("");
  node_.networks.configs["/n/m.conf"] = R"({"name":"m","type":"multus-cni"})";
  EXPECT_THAT(error_of(R"("clusterNetwork":"/n/m.conf")"), HasSubstr("is multus itself"));
  EXPECT_EQ(error_of(R"("delegates":[{"name":"d","type":"multus"}])"),
            "failed to get clusterNetwork/defaultNetworks: network d: type \"multus\" is multus "
            "itself; correct the types in its configuration");
}

// 02, 12: row 60
TEST_F(ResolverTest, TellsThePodWhichDefinitionIsMultusItself) {
  add_network("ns1", "a", R"({"type":"ta"})");
  add_network("ns1", "bad", R"({"type":"multus","binDir":"/srv/t","delegates":[{"type":"evil"}]})");
  select("a,bad");

  const std::string why =
      "network-attachment-definition (bad) in namespace (ns1): type \"multus\" is multus itself; "
      "correct the types in its configuration";
  EXPECT_EQ(error_of(),
            "error loading k8s delegates k8s args: failed getting the delegate: " + why);
  EXPECT_THAT(node_.source.events, ElementsAre("Warning InvalidNetwork: " + why));
}

TEST_F(ResolverTest, TellsADefinitionThatCannotBeReadFromOneThatIsMissing) {
  add_network("ns1", "broken", R"({"type":"ta",})");
  select("broken");

  EXPECT_NE(error_of(), "no error");
  EXPECT_THAT(node_.source.events,
              ElementsAre(AllOf(StartsWith("Warning InvalidNetwork: "), HasSubstr("broken"))));
}

// 02, 12: row 60
TEST_F(ResolverTest, RefusesMultusItselfAndPathsAtEveryDepth) {
  for (const char* config :
       {R"({"type":"multus-cni"})", R"({"type":"ours"})", R"({"Type":"multus"})",
        R"({"type":"t","ipam":{"type":"multus"}})", R"({"type":"t","ipam":{"TYPE":"multus-shim"}})",
        R"({"plugins":[{"type":"t"},{"type":"ours"}]})",
        R"({"plugins":[{"type":"t","delegate":{"plugins":[{"type":"multus"}]}}]})",
        R"({"plugins":[{"type":"t"}],"delegates":[{"type":"multus"}]})"}) {
    add_network("ns1", "bad", config);
    select("bad");
    EXPECT_THAT(error_of(path_and(R"("type":"ours")")), HasSubstr("is multus itself")) << config;
  }
  for (const char* config :
       {R"({"type":"../t"})", R"({"type":"t","ipam":{"type":"/srv/evil"}})",
        R"({"plugins":[{"type":"t","delegate":{"type":"a/b"}}]})", R"({"type":"t\u0000x"})"}) {
    add_network("ns1", "bad", config);
    EXPECT_THAT(error_of(), HasSubstr("type: invalid plugin name: ")) << config;
  }
  add_network("ns1", "good", R"({"type":"ours","policy":{"type":"k8s"},"ipam":{"type":""}})");
  select("good");
  EXPECT_THAT(names(resolve()), ElementsAre("c", "ns1/good"));
}

TEST_F(ResolverTest, RefusesMultusItselfInWhatThePodAddsToAConfiguration) {
  add_network("ns1", "a", R"({"type":"ta"})");
  select(R"([{"name":"a","cni-args":{"x":{"type":"multus"}}}])");

  EXPECT_THAT(error_of(),
              HasSubstr("network-attachment-definition (a) in namespace (ns1): cni-args "
                        "of the pod's annotation: x.type \"multus\" is multus itself"));
  EXPECT_THAT(node_.source.events, SizeIs(1));
}

TEST_F(ResolverTest, NeedsASourceForNamesButNotForPaths) {
  EXPECT_THAT(names(resolve_with(node_.ports(), path_and({}))), ElementsAre("c"));
  node_.networks.named["n"] = R"({"name":"n","type":"t"})";
  EXPECT_THAT(resolve_with(node_.ports(), R"("clusterNetwork":"n")").error().text(),
              HasSubstr("must have either Kubernetes config or delegates"));
}

// 02, 12: rows 6, 9
TEST_F(ResolverTest, TakesInlineDelegatesUnlessThereIsAClusterNetwork) {
  const std::string delegates =
      R"("delegates":[{"name":"a","type":"t"},{"name":"l","plugins":[{"type":"t"}]}])";

  auto resolved = resolve(delegates);

  EXPECT_THAT(names(resolved), ElementsAre("a", "l"));
  EXPECT_TRUE(resolved->delegates[0].is_master);
  EXPECT_FALSE(resolved->delegates[1].is_master);
  EXPECT_THAT(names(resolve(path_and(delegates))), ElementsAre("c"));
}

// 02, 12: row 13
TEST_F(ResolverTest, LeavesDefaultNetworksOutOnlyInSystemNamespaces) {
  add_network("kube-system", "d", R"({"type":"t"})");
  const std::string conf = path_and(R"("defaultNetworks":["d"])");
  EXPECT_THAT(names(resolve(conf)), ElementsAre("c", "kube-system/d"));
  EXPECT_THAT(names(resolve(cat(conf, R"(,"systemNamespaces":["ns1"])"))), ElementsAre("c"));
  EXPECT_THAT(names(resolve(cat(conf, R"(,"systemNamespaces":[])"))),
              ElementsAre("c", "kube-system/d"));
}

// 02, 12: row 164; pain 47
TEST_F(ResolverTest, LeavesDefaultNetworksOutForAPodThatSaysSo) {
  add_network("kube-system", "d", R"({"type":"t"})");
  add_network("kube-system", "e", R"({"type":"t"})");
  const std::string conf = path_and(R"("defaultNetworks":["d","e"])");
  const std::string key(model::kSkipDefaultNetworksAnnotation);

  annotate({{key, "true"}});
  EXPECT_THAT(names(resolve(conf)), ElementsAre("c"));
  annotate({{key, "false"}});
  EXPECT_THAT(names(resolve(conf)), SizeIs(3));
  for (const char* text : {"yes", "", "True", " true"}) {
    annotate({{key, text}});
    EXPECT_THAT(error_of(conf), HasSubstr(key)) << text;
  }
}

// 02, 12: row 44
TEST_F(ResolverTest, ReplacesTheMasterByThePodsDefaultNetwork) {
  add_network("kube-system", "calico", R"({"type":"t"})");
  add_network("other", "calico", R"({"type":"t"})");
  add_network("kube-system", "d", R"({"type":"t"})");
  const std::string key(model::kDefaultNetworkAnnotation);

  annotate({{key, "calico"}, {std::string(model::kNetworksAnnotation), "other/calico"}});
  auto resolved = resolve(path_and(R"("defaultNetworks":["d"])"));
  ASSERT_THAT(names(resolved), ElementsAre("kube-system/calico", "kube-system/d", "other/calico"));
  EXPECT_TRUE(resolved->delegates[0].is_master);
  EXPECT_EQ(resolved->delegates[0].source, model::Source::kCluster);
  EXPECT_FALSE(resolved->delegates[1].is_master);

  annotate({{key, "other/calico"}});
  EXPECT_THAT(names(resolve()), ElementsAre("other/calico"));
  annotate({{key, "a,b"}});
  EXPECT_THAT(error_of(), HasSubstr("more than one default network is specified"));
  for (const char* text : {"", " ", "[]"}) {
    annotate({{key, text}});
    EXPECT_THAT(error_of(), StartsWith("error loading k8s delegates k8s args: ")) << text;
  }
}

TEST_F(ResolverTest, StillNeedsTheMasterThatThePodReplaces) {
  add_network("kube-system", "calico", R"({"type":"t"})");
  annotate({{std::string(model::kDefaultNetworkAnnotation), "calico"}});
  EXPECT_THAT(error_of(R"("clusterNetwork":"/no/such")"),
              HasSubstr("failed to get clusterNetwork"));
}

TEST_F(ResolverTest, NeverTakesAFileForThePodsDefaultNetwork) {
  node_.networks.named["calico"] = R"({"name":"calico","type":"t"})";
  annotate({{std::string(model::kDefaultNetworkAnnotation), "calico"}});
  EXPECT_THAT(error_of(), HasSubstr("cannot find a network-attachment-definition (calico) in "
                                    "namespace (kube-system)"));
}

TEST_F(ResolverTest, HonoursAnInterfaceNameOfTheDefaultNetworkWithAWarning) {
  add_network("kube-system", "calico", R"({"type":"t"})");
  annotate({{std::string(model::kDefaultNetworkAnnotation),
             R"([{"name":"calico","interface":"main0","mac":"02:00:00:00:00:01"}])"}});

  auto resolved = resolve();

  ASSERT_TRUE(resolved) << resolved.error().text();
  EXPECT_EQ(model::interface_name(resolved->delegates[0], 0, "eth0"), "main0");
  EXPECT_EQ(resolved->delegates[0].selection.mac, "02:00:00:00:00:01");
  EXPECT_TRUE(logged("warning: ")) << lines_->lines().size();
}

// pain 30
TEST_F(ResolverTest, FailsForAnAnnotationThatCannotBeReadAndTellsThePod) {
  select("[{]");
  EXPECT_THAT(error_of(), StartsWith("error loading k8s delegates k8s args: failed to parse pod "
                                     "Network Attachment Selection Annotation JSON format"));
  EXPECT_THAT(node_.source.events, ElementsAre(StartsWith("Warning InvalidNetworksAnnotation: ")));
}

// 02, 12: row 66
TEST_F(ResolverTest, AppendsTheAuxiliaryChainOnlyIfItHasPlugins) {
  const std::string conf = path_and(R"("auxiliaryCNIChainName":"aux")");
  EXPECT_THAT(names(resolve(conf)), ElementsAre("c"));

  add_network("ns1", "a", R"({"type":"t"})");
  select("a");
  node_.networks.auxiliary = {R"({"type":"tuning"})"};
  auto resolved = resolve(conf);

  ASSERT_THAT(names(resolved), ElementsAre("c", "ns1/a", "aux"));
  EXPECT_THAT(resolved->delegates[2].types, ElementsAre("passthru", "tuning"));
  EXPECT_EQ(resolved->delegates[2].source, model::Source::kAuxChain);
}

// A broken chain must not keep pods from starting (02, 3.9).
TEST_F(ResolverTest, LeavesOutAnAuxiliaryChainWithMultusInIt) {
  node_.networks.auxiliary = {R"({"type":"tuning"})", R"({"type":"x","d":{"type":"multus-cni"}})"};

  EXPECT_THAT(names(resolve(path_and(R"("auxiliaryCNIChainName":"aux")"))), ElementsAre("c"));
  EXPECT_TRUE(logged(R"(auxiliary chain "aux" is skipped: plugins[2].d.type "multus-cni" is)"));
}

// 02, 12: row 67
TEST_F(ResolverTest, NeedsAPathForTheAuxiliaryChain) {
  add_network("kube-system", "n", R"({"type":"t"})");
  EXPECT_THAT(error_of(R"("clusterNetwork":"n","auxiliaryCNIChainName":"aux")"),
              HasSubstr("ClusterNetwork must be a path"));
  node_.networks.auxiliary = {R"({"type":"tuning"})"};
  auto resolved = resolve(path_and(R"("auxiliaryCNIChainName":"a\"b")"));
  ASSERT_TRUE(resolved) << resolved.error().text();
  for (const model::Delegate& delegate : resolved->delegates) {
    EXPECT_TRUE(json::parse_object(delegate.bytes)) << delegate.bytes;
  }
}

// 02, 12: row 96
TEST_F(ResolverTest, RefusesTwoGatewaysOfOneFamily) {
  add_network("ns1", "a", R"({"type":"t"})");
  select(
      R"([{"name":"a","default-route":["10.1.1.1"]},{"name":"a","default-route":["10.2.2.1"]}])");
  EXPECT_THAT(error_of(),
              StartsWith("error loading k8s delegates k8s args: multus does not support "
                         "ECMP for default-route"));
}

TEST_F(ResolverTest, PlansTheDefaultRoutesOfAnOverriddenMasterToo) {
  add_network("kube-system", "m", R"({"type":"t"})");
  annotate({{std::string(model::kDefaultNetworkAnnotation),
             R"([{"name":"m","default-route":["10.1.1.1"]}])"}});

  auto resolved = resolve();

  ASSERT_TRUE(resolved) << resolved.error().text();
  ASSERT_TRUE(resolved->routes.owner(AddressFamily::kV4));
  EXPECT_EQ(resolved->routes.owner(AddressFamily::kV4)->index, 0u);
  EXPECT_FALSE(resolved->routes.owner(AddressFamily::kV6));
}

// 02, 12: rows 68, 69
TEST_F(ResolverTest, LeavesNumbersToThePlaceInTheList) {
  for (const char* name : {"x", "y"}) {
    add_network("ns1", name, cat(R"({"type":"t","name":")", name, R"("})"));
  }
  add_network("kube-system", "d1", R"({"type":"t"})");
  const std::string conf = path_and(R"("defaultNetworks":["d1"])");
  const Job job(read_text(Verb::kAdd, text(conf), log_).value(), Verb::kAdd);

  select("x@foo,y");
  auto resolved = resolve(conf);
  ASSERT_TRUE(resolved) << resolved.error().text();
  auto planned = plan_add(job, resolved->delegates);
  ASSERT_TRUE(planned) << planned.error().text();
  std::vector<std::string> ifnames;
  for (const model::AttachmentPtr& attachment : *planned) ifnames.push_back(attachment->ifname);
  EXPECT_THAT(ifnames, ElementsAre("eth0", "net1", "foo", "net3"));

  select("x@net3,y");
  resolved = resolve(conf);
  ASSERT_TRUE(resolved) << resolved.error().text();
  EXPECT_THAT(plan_add(job, resolved->delegates).error().text(),
              HasSubstr("net3 is requested by two networks"));
}

// 02, 12: row 158
TEST_F(ResolverTest, KeepsATextThatNeedsNoChangeByteForByte) {
  const std::string text =
      "\n\t{ \"name\" :\"n\",\r\n \"type\": \"t\",\"x\":1.50e3,\"\\u0061\":2 }\n";
  add_network("ns1", "a", text);
  select(R"([{"name":"a","ips":["10.1.1.5/24"],"mac":"02:00:00:00:00:01"}])");

  auto resolved = resolve();

  ASSERT_TRUE(resolved) << resolved.error().text();
  EXPECT_EQ(resolved->delegates[1].bytes, text);
  const json::Object scratch = model::encode_scratch(resolved->delegates[1]);
  EXPECT_EQ(*scratch.find("Bytes")->as_string(), to_base64(text));
}

TEST_F(ResolverTest, HashesTheConfigurationBeforeAnythingIsWrittenIntoIt) {
  add_network("ns1", "a", R"({"type":"t","name":"a","cniVersion":"1.0.0"})");
  select(R"([{"name":"a"},{"name":"a","cni-args":{"k":1},"deviceID":"d"}])");
  node_.devices.ids["r"] = {"d"};

  auto resolved = resolve();

  ASSERT_TRUE(resolved) << resolved.error().text();
  EXPECT_THAT(resolved->delegates[1].config_hash, StartsWith("sha256:"));
  EXPECT_EQ(resolved->delegates[1].config_hash, resolved->delegates[2].config_hash);
  EXPECT_NE(resolved->delegates[0].config_hash, resolved->delegates[1].config_hash);
  EXPECT_NE(resolved->delegates[1].bytes, resolved->delegates[2].bytes);
  EXPECT_EQ(json::dump(resolved->delegates[2].attributes),
            R"({"cni-args":{"k":1},"deviceID":"d"})");
}

TEST_F(ResolverTest, FindsTheMasterForRequestsWithoutAPodAndSendsNoEvent) {
  add_network("kube-system", "n", R"({"type":"t"})", "intel.com/vf");

  auto found = master(R"("clusterNetwork":"n")");

  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->name, "kube-system/n");
  EXPECT_TRUE(found->is_master);
  EXPECT_EQ(node_.devices.asked, 0);
  EXPECT_THAT(master(R"("clusterNetwork":"gone")").error().text(),
              StartsWith("failed to get clusterNetwork gone in namespace kube-system: cannot find "
                         "network"));
  EXPECT_THAT(node_.source.events, IsEmpty());
}

// Answers the first who asks only when the second asks.
class ReversedSource : public FakeSource {
 public:
  using FakeSource::FakeSource;
  aio::Task<model::NetworkDefinitionPtr> find_network(NetworkLookup lookup) override {
    if (++asked_so_far_ == 1) {
      MNET_CO_TRY_VOID(co_await second_.wait());
    } else {
      second_.set();
    }
    co_return co_await FakeSource::find_network(std::move(lookup));
  }

 private:
  int asked_so_far_ = 0;
  aio::Event second_;
};

TEST_F(ResolverTest, LooksForNetworksSideBySideAndKeepsTheirOrder) {
  ReversedSource source(node_.calls);
  source.add_network("ns1", "a", R"({"type":"t"})");
  source.add_network("ns1", "b", R"({"type":"t"})");
  select("a,b");
  Ports ports = node_.cluster_ports();
  ports.source = &source;

  EXPECT_THAT(names(resolve_with(ports, path_and({}))), ElementsAre("c", "ns1/a", "ns1/b"));
  EXPECT_THAT(source.asked, ElementsAre("ns1/b", "ns1/a"));
}

// A DEL without a record deletes each network on its own.
TEST(LiveReads, GoOnAfterAFailureOnlyIfAsked) {
  LiveReads of_add;
  LiveReads of_del(aio::kNoDeadline, LiveReads::Others::kGoOn);
  of_add.fail();
  of_del.fail();

  EXPECT_FALSE(aio::run(of_add.begin(LiveReads::Limit::kAtOnce)).has_value());
  EXPECT_TRUE(aio::run(of_del.begin(LiveReads::Limit::kAtOnce)).has_value());
}

}  // namespace
}  // namespace mnet::attach
