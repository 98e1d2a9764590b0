#include "manifests/objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/objects.h"
#include "sys/file.h"

namespace mnet::manifests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;

Objects parsed(std::string_view text) {
  auto objects = parse_objects(text);
  EXPECT_TRUE(objects.has_value()) << objects.error().text();
  return objects ? *std::move(objects) : Objects();
}

std::string error_of(std::string_view text) {
  const auto objects = parse_objects(text);
  return objects ? "no error" : objects.error().text();
}

std::vector<std::string> names_of(const Objects& objects) {
  std::vector<std::string> names;
  names.reserve(objects.pods.size() + objects.networks.size());
  for (const model::PodObject& pod : objects.pods)
    names.push_back("pod " + pod.ns + "/" + pod.name);
  for (const auto& network : objects.networks) {
    names.push_back("net " + network.ns + "/" + network.name);
  }
  return names;
}

TEST(Objects, ReadsAPod) {
  const Objects objects = parsed(R"(
apiVersion: v1
kind: Pod
metadata:
  name: web-0
  namespace: prod
  uid: dead8828-7018
  resourceVersion: "77"
  annotations:
    k8s.v1.cni.cncf.io/networks: mac1,br1
    other: ""
spec:
  containers: [{name: c, image: busybox}]
)");

  ASSERT_EQ(objects.pods.size(), 1u);
  const model::PodObject& pod = objects.pods[0];
  EXPECT_EQ(pod.ns, "prod");
  EXPECT_EQ(pod.name, "web-0");
  EXPECT_EQ(pod.uid, "dead8828-7018");
  EXPECT_EQ(pod.resource_version, "77");
  EXPECT_THAT(pod.annotations,
              ElementsAre(Pair("k8s.v1.cni.cncf.io/networks", "mac1,br1"), Pair("other", "")));
  EXPECT_FALSE(pod.is_static);
}

TEST(Objects, ReadsANetworkDefinition) {
  const Objects objects = parsed(R"(
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: sriov.a
  annotations: {k8s.v1.cni.cncf.io/resourceName: intel.com/vf}
  resourceVersion: "5"
spec:
  config: '{"type": "sriov",  "vlan":1.50}'
)");

  ASSERT_EQ(objects.networks.size(), 1u);
  const model::NetworkDefinition& network = objects.networks[0];
  EXPECT_EQ(network.ns, "default");
  EXPECT_EQ(network.name, "sriov.a");
  EXPECT_EQ(network.resource_version, "5");
  EXPECT_EQ(network.resource_name, "intel.com/vf");
  EXPECT_EQ(network.config, R"({"type": "sriov",  "vlan":1.50})");
}

TEST(Objects, AreInTheGivenNamespaceIfTheyNameNone) {
  const auto objects = parse_objects(
      "{apiVersion: v1, kind: Pod, metadata: {name: a}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: own}}\n---\n"
      "{apiVersion: k8s.cni.cncf.io/v1, kind: NetworkAttachmentDefinition, metadata: {name: c}}\n",
      "net");

  ASSERT_TRUE(objects.has_value()) << objects.error().text();
  EXPECT_THAT(names_of(*objects), ElementsAre("pod net/a", "pod own/b", "net net/c"));
}

TEST(Objects, TellsAnAbsentConfigFromAnEmptyOne) {
  const std::string head =
      "{apiVersion: k8s.cni.cncf.io/v1, kind: NetworkAttachmentDefinition, metadata: {name: a}";

  EXPECT_EQ(parsed(head + "}").networks.at(0).config, std::nullopt);
  EXPECT_EQ(parsed(head + ", spec: {}}").networks.at(0).config, std::nullopt);
  EXPECT_EQ(parsed(head + ", spec: {config: }}").networks.at(0).config, std::nullopt);
  EXPECT_EQ(parsed(head + ", spec: null}").networks.at(0).config, std::nullopt);
  EXPECT_EQ(parsed(head + ", spec: {config: ''}}").networks.at(0).config, "");
}

TEST(Objects, ReadsSeveralDocumentsAndListsInTheirOrder) {
  const Objects objects = parsed(R"(# a comment
---
{apiVersion: v1, kind: Pod, metadata: {name: a}}
---
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, metadata: {name: b, namespace: x}}
- {apiVersion: v1, kind: Service, metadata: {name: ignored}}
- apiVersion: v1
  kind: List
  items: [{apiVersion: v1, kind: Pod, metadata: {name: c}}]
- {apiVersion: k8s.cni.cncf.io/v1, kind: NetworkAttachmentDefinition, metadata: {name: net}}
---
{apiVersion: v1, kind: Pod, metadata: {name: d}}
)");

  EXPECT_THAT(names_of(objects), ElementsAre("pod default/a", "pod x/b", "pod default/c",
                                             "pod default/d", "net default/net"));
}

TEST(Objects, ReadsTypedListsWhoseItemsHaveNoKind) {
  EXPECT_THAT(names_of(parsed(R"({"kind":"PodList","apiVersion":"v1","metadata":{},
      "items":[{"metadata":{"name":"a"}},{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b"}}]})")),
              ElementsAre("pod default/a", "pod default/b"));
  EXPECT_THAT(
      names_of(parsed(R"({"apiVersion":"k8s.cni.cncf.io/v1","items":[{"metadata":{"name":"n"}}],
      "kind":"NetworkAttachmentDefinitionList"})")),
      ElementsAre("net default/n"));
  EXPECT_THAT(names_of(parsed("{apiVersion: v1, kind: PodList, items: null}")), IsEmpty());
  EXPECT_THAT(names_of(parsed("{apiVersion: v1, kind: List}")), IsEmpty());
}

TEST(Objects, LeavesOutWhatIsNoneOfThem) {
  for (const char* text :
       {"", "---\n", "# nothing", "5", "just text", "[1, 2]", "{}", "{a: 1}", "kind: 7",
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: A_B}}",
        "{apiVersion: v2, kind: Pod, metadata: {name: a}}",
        "{apiVersion: other.io/v1, kind: NetworkAttachmentDefinition}",
        "{apiVersion: v1, kind: ServiceList, items: [{metadata: {name: a}}]}",
        "{apiVersion: other.io/v1, kind: PodList, items: [{metadata: {name: a}}]}"}) {
    EXPECT_THAT(names_of(parsed(text)), IsEmpty()) << text;
  }
}

TEST(Objects, ReadsJsonWithEscapesThatYamlDoesNotKnow) {
  const Objects objects = parsed(
      "\t{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\n\t\"metadata\":{\"name\":\"a\","
      "\"annotations\":{\"note\":\"\\ud83d\\ude00 \\/\"}}}\n");

  EXPECT_THAT(objects.pods.at(0).annotations, ElementsAre(Pair("note", "\xf0\x9f\x98\x80 /")));
}

TEST(Objects, ReadsYamlThatBeginsLikeJson) {
  EXPECT_THAT(
      names_of(parsed("{apiVersion: v1, kind: Pod, metadata: {name: a}}\n---\n"
                      "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\"}}\n")),
      ElementsAre("pod default/a", "pod default/b"));
}

TEST(Objects, KnowsStaticPodsByTheirSource) {
  const auto is_static = [](const std::string& annotations) {
    return parsed("{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: " + annotations +
                  "}}")
        .pods.at(0)
        .is_static;
  };

  EXPECT_TRUE(is_static("{kubernetes.io/config.source: file}"));
  EXPECT_TRUE(is_static("{kubernetes.io/config.source: ''}"));
  EXPECT_TRUE(is_static("{kubernetes.io/config.source: }"));
  EXPECT_FALSE(is_static("{kubernetes.io/config.source: api}"));
  EXPECT_FALSE(is_static("{}"));
}

TEST(Objects, FitByUid) {
  model::PodObject pod{.ns = "default", .name = "a", .uid = "1"};
  EXPECT_TRUE(pod.fits("1"));
  EXPECT_TRUE(pod.fits(""));
  EXPECT_FALSE(pod.fits("2"));
  pod.is_static = true;
  EXPECT_TRUE(pod.fits("2"));
  pod.annotations["kubernetes.io/config.hash"] = "2";
  EXPECT_TRUE(pod.fits("2"));
  EXPECT_TRUE(pod.fits("1"));
  EXPECT_FALSE(pod.fits("3"));
  pod = {.ns = "default", .name = "a"};
  EXPECT_TRUE(pod.fits("2"));
}

TEST(Objects, SayWhereTheyAreWrong) {
  EXPECT_EQ(error_of("kind: Pod\napiVersion: v1\n"), "line 1: metadata: missing");
  EXPECT_EQ(error_of("a: 1\n---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: x}\n"),
            "line 3: metadata.name: missing");
  EXPECT_EQ(error_of("{apiVersion: v1, kind: Pod, metadata: {name: A}}"),
            "line 1: metadata.name: \"A\" is not a DNS subdomain");
  EXPECT_EQ(error_of("{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: ../x}}"),
            "line 1: metadata.namespace: \"../x\" is not a DNS label");
  EXPECT_EQ(error_of("{apiVersion: v1, kind: Pod, metadata: {name: 5}}"),
            "line 1: metadata.name: expected a string, got a number");
  EXPECT_EQ(error_of("{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: {x: yes}}}"),
            "line 1: metadata.annotations[\"x\"]: expected a string, got a boolean");
  EXPECT_EQ(error_of("{apiVersion: v1, kind: List, items: [{}, {kind: Pod, metadata: {name: a}}]}"),
            "line 1: items[1].apiVersion: missing");
  EXPECT_EQ(error_of("{apiVersion: v1, kind: List, items: [7]}"),
            "line 1: items[0]: expected an object, got a number");
  EXPECT_EQ(error_of("{apiVersion: v1, kind: List, items: {}}"),
            "line 1: items: expected a list, got an object");
  EXPECT_EQ(error_of("apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\n"
                     "metadata: {name: a}\nspec: {config: {type: bridge}}\n"),
            "line 1: spec.config: expected a string, got an object");
  EXPECT_THAT(error_of("a: 1\nb: [\n"), StartsWith("line "));
  EXPECT_THAT(error_of("a: 1\na: 2\n"), StartsWith("line 2, column 1: "));
  EXPECT_THAT(error_of("{\"kind\": \"Pod\",\n\"apiVersion\"}: 1"), HasSubstr("line "));
}

TEST(Objects, ReadsTheRecordedNode) {
  const Objects objects = parsed(sys::read_file(MNET_TEST_DATA "/recordings/objects.yaml").value());

  EXPECT_THAT(names_of(objects),
              ElementsAre("pod default/p2", "net default/mac1", "net default/br1"));
}

}  // namespace
}  // namespace mnet::manifests
