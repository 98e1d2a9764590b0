// What is read of the server's texts: lists, watch events, objects.
#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"
#include "kube/list_reader.h"
#include "kube/objects.h"
#include "kube/watch_event.h"

namespace mnet::kube {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

// The items of a list that comes in pieces of `step` bytes.
std::vector<std::string> items_of(std::string_view text, std::size_t step, ListReader& reader) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size(); at += step) {
    if (!reader.put(text.substr(at, step))) return {"error"};
    while (auto item = reader.next_item()) out.push_back(*item);
  }
  return out;
}

const std::string kList =
    R"({ "kind":"items","items" : [ {"a":"]}\"","b":[{}]} , {"items":[1]} ],)"
    R"("metadata":{"resourceVersion":"7","continue":"t","x":{"items":[2]}}} )";

TEST(ListReader, GivesEachItemByItself) {
  for (const std::size_t step : {1u, 2u, 7u, 1000u}) {
    ListReader reader;

    const auto items = items_of(kList, step, reader);

    EXPECT_THAT(items, ElementsAre(R"({"a":"]}\"","b":[{}]})", R"({"items":[1]})"));
    const auto end = reader.finish();
    ASSERT_TRUE(end.has_value()) << end.error().text();
    EXPECT_EQ(end->resource_version, "7");
    EXPECT_EQ(end->continuation, "t");
  }
}

TEST(ListReader, TakesAListWithoutItems) {
  for (const char* text : {R"({"metadata":{"resourceVersion":"7"},"items":[]})",
                           R"({"metadata":{"resourceVersion":"7"},"items":null})",
                           R"({"metadata":{"resourceVersion":"7"}})"}) {
    ListReader reader;
    EXPECT_THAT(items_of(text, 3, reader), ElementsAre());
    EXPECT_TRUE(reader.finish().has_value()) << text;
  }
}

// Some aggregated APIs have no versions; client-go takes their lists.
TEST(ListReader, TakesAListWithoutAVersion) {
  ListReader reader;
  EXPECT_THAT(items_of(R"({"kind":"XList","metadata":{},"items":[{"a":1}]})", 3, reader),
              ElementsAre(R"({"a":1})"));

  const auto end = reader.finish();

  ASSERT_TRUE(end.has_value()) << end.error().text();
  EXPECT_EQ(end->resource_version, "");
}

// Taken for an empty list it would remove everything.
TEST(ListReader, RefusesAnAnswerThatHasNeitherItemsNorAVersion) {
  for (const char* text : {"{}", R"({"metadata":{}})", R"({"kind":"Status","status":"Failure"})",
                           R"({"metadata":{},"items":null})"}) {
    ListReader reader;
    EXPECT_THAT(items_of(text, 3, reader), ElementsAre());
    EXPECT_FALSE(reader.finish().has_value()) << text;
  }
}

TEST(ListReader, LeavesOutWhatIsTooLarge) {
  ListReader reader(20);

  const auto items = items_of(cat(R"({"items":[{"a":")", std::string(100, 'x'),
                                  R"("},{"b":1}],"metadata":{"resourceVersion":"7"}})"),
                              9, reader);

  EXPECT_THAT(items, ElementsAre(R"({"b":1})"));
  EXPECT_EQ(reader.skipped(), 1u);
  EXPECT_TRUE(reader.finish().has_value());
}

TEST(ListReader, RefusesHalfAList) {
  for (std::size_t length = 0; length < kList.size() - 1; ++length) {
    ListReader reader;
    (void)items_of(std::string_view(kList).substr(0, length), 100, reader);
    EXPECT_FALSE(reader.finish().has_value()) << length;
  }
}

TEST(ListReader, RefusesWhatIsNoList) {
  for (const char* text : {"}", "]", R"({"items":[1]})", R"({"items":[}]})"}) {
    ListReader reader;
    EXPECT_THAT(items_of(text, 1, reader), ElementsAre("error")) << text;
  }
}

TEST(LineSplitter, PutsLinesTogether) {
  LineSplitter lines;

  lines.put("on");
  EXPECT_FALSE(lines.next().has_value());
  EXPECT_TRUE(lines.is_inside());
  lines.put("e\n\n \ntwo\nthr");

  EXPECT_EQ(lines.next()->text, "one");
  EXPECT_EQ(lines.next()->text, "two");
  EXPECT_FALSE(lines.next().has_value());
  EXPECT_TRUE(lines.is_inside());
}

TEST(LineSplitter, KeepsNothingOfALineThatIsTooLong) {
  LineSplitter lines(10);

  lines.put("01234567890");
  EXPECT_TRUE(lines.next()->is_too_long);
  lines.put("more and more");
  EXPECT_FALSE(lines.next().has_value());
  lines.put("\nnext\n0123456789x\n");

  EXPECT_EQ(lines.next()->text, "next");
  EXPECT_TRUE(lines.next()->is_too_long);
  EXPECT_FALSE(lines.next().has_value());
}

TEST(WatchEvent, HasATypeAndAnObject) {
  const auto event = parse_watch_event(R"({"type":"DELETED","object":{"a":1}})");

  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->type, EventType::kDeleted);
  EXPECT_EQ(json::dump(event->object), R"({"a":1})");
  for (const char* text : {"", "{}", "[]", R"({"type":"ADDED"})", R"({"type":"NEW","object":{}})",
                           R"({"type":"ADDED","object":[]})", R"({"type":1,"object":{}})"}) {
    EXPECT_FALSE(parse_watch_event(text).has_value()) << text;
  }
}

json::Object object(std::string_view text) { return *json::parse_object(text); }

// 03, 5.2: nothing else stays in memory.
TEST(Pod, KeepsOnlyWhatWeUse) {
  const auto pod = parse_pod(object(R"({
    "metadata":{"namespace":"ns","name":"p","uid":"u","resourceVersion":"9","managedFields":[1],
      "labels":{"a":"b"},
      "annotations":{"k8s.v1.cni.cncf.io/networks":"a","v1.multus-cni.io/default-network":"b",
        "v1.multus-cni.io/skip-default-networks":"c","other":"d"}},
    "spec":{"nodeName":"n","resourceClaims":[{"name":"x"}],"containers":[{}]},
    "status":{"phase":"Running","resourceClaimStatuses":[2]}})"));

  ASSERT_TRUE(pod.has_value()) << pod.error().text();
  EXPECT_EQ(pod->key(), "ns/p");
  EXPECT_EQ(pod->uid, "u");
  EXPECT_EQ(pod->resource_version, "9");
  EXPECT_EQ(pod->node_name, "n");
  EXPECT_THAT(pod->annotations,
              UnorderedElementsAre(Pair("k8s.v1.cni.cncf.io/networks", "a"),
                                   Pair("v1.multus-cni.io/default-network", "b"),
                                   Pair("v1.multus-cni.io/skip-default-networks", "c")));
  EXPECT_EQ(pod->resource_claims,
            R"({"spec.resourceClaims":[{"name":"x"}],"status.resourceClaimStatuses":[2]})");
  EXPECT_FALSE(pod->is_static);
}

// As watches and live reads do it.
TEST(Pod, IsTheSameWithoutTheMembersThatAreSkipped) {
  constexpr std::string_view kText = R"({
    "metadata":{"namespace":"ns","name":"p","uid":"u","resourceVersion":"9","managedFields":[{}],
      "annotations":{"k8s.v1.cni.cncf.io/networks":"a"},"labels":{"a":"b"}},
    "spec":{"nodeName":"n","containers":[{"env":[{"name":"x"}]}],"resourceClaims":[{"name":"x"}]},
    "status":{"phase":"Running","containerStatuses":[{}],"resourceClaimStatuses":[2]}})";
  const auto skipped = json::parse_object_without(kUnusedMembers, kText);
  ASSERT_TRUE(skipped.has_value());
  EXPECT_EQ(json::dump(*skipped).find("env"), std::string::npos);

  const auto whole = parse_pod(object(kText));
  const auto pod = parse_pod(*skipped);

  ASSERT_TRUE(whole.has_value() && pod.has_value());
  EXPECT_EQ(pod->key(), whole->key());
  EXPECT_EQ(pod->annotations, whole->annotations);
  EXPECT_EQ(pod->resource_claims, whole->resource_claims);
  EXPECT_EQ(pod->node_name, whole->node_name);
  EXPECT_TRUE(pod->is_running());
}

TEST(Pod, IsStaticIfItsConfigurationIsNotFromTheApi) {
  const auto with = [](std::string_view source) {
    return parse_pod(object(cat(R"({"metadata":{"name":"p","uid":"mirror","annotations":{)"
                                R"("kubernetes.io/config.source":")",
                                source, R"("}}})")));
  };

  EXPECT_TRUE(with("file")->is_static);
  EXPECT_TRUE(with("file")->fits("another"));
  EXPECT_FALSE(with("api")->is_static);
  EXPECT_FALSE(with("api")->fits("another"));
  EXPECT_TRUE(with("api")->fits(""));
  EXPECT_TRUE(with("api")->fits("mirror"));
}

// Pain 32: while a static pod is replaced, the API still has the mirror of the one before it.
TEST(Pod, AMirrorFitsTheStaticPodWhoseHashItHas) {
  const auto pod = parse_pod(object(R"({"metadata":{"name":"p","uid":"mirror","annotations":{
    "kubernetes.io/config.source":"file","kubernetes.io/config.hash":"of-the-kubelet"}}})"));

  ASSERT_TRUE(pod.has_value());
  EXPECT_TRUE(pod->fits("of-the-kubelet"));
  EXPECT_TRUE(pod->fits("mirror"));
  EXPECT_TRUE(pod->fits(""));
  EXPECT_FALSE(pod->fits("of-its-successor"));
}

TEST(Pod, IsRunningOnlyInANetworkOfItsOwn) {
  const auto with = [](std::string_view metadata, std::string_view spec, std::string_view phase) {
    return parse_pod(object(cat(R"({"metadata":{"name":"p")", metadata, R"(},"spec":{)", spec,
                                R"(},"status":{"phase":")", phase, R"("}})")))
        ->is_running();
  };

  EXPECT_TRUE(with("", "", "Running"));
  EXPECT_TRUE(with("", R"("hostNetwork":false)", "Running"));
  EXPECT_FALSE(with("", R"("hostNetwork":true)", "Running"));
  EXPECT_FALSE(with(R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")", "", "Running"));
  EXPECT_FALSE(with("", "", "Pending"));
  EXPECT_FALSE(with("", "", "Succeeded"));
}

TEST(Pod, KnowsWhetherItHasANetworkStatus) {
  const auto with = [](std::string_view annotation) {
    return parse_pod(object(cat(R"({"metadata":{"name":"p","annotations":{)", annotation, "}}}")))
        ->has_network_status;
  };

  EXPECT_TRUE(with(R"("k8s.v1.cni.cncf.io/network-status":"[]")"));
  EXPECT_TRUE(with(R"("k8s.v1.cni.cncf.io/networks-status":"[{}]")"));
  EXPECT_FALSE(with(R"("k8s.v1.cni.cncf.io/network-status":"")"));
  EXPECT_FALSE(with(R"("k8s.v1.cni.cncf.io/networks":"a")"));
}

TEST(Pod, NeedsAName) {
  EXPECT_FALSE(parse_pod(object(R"({"metadata":{"namespace":"a"}})")).has_value());
  EXPECT_FALSE(parse_pod(object(R"({"metadata":[]})")).has_value());
}

TEST(ParseStoredPod, KeepsOnlyTheKeysOfAnnotationsThatAreTooLong) {
  const auto parse = [](std::size_t size) {
    return parse_stored_pod(object(cat(R"({"metadata":{"name":"p","annotations":{)"
                                       R"("k8s.v1.cni.cncf.io/networks":")",
                                       std::string(size, 'a'), R"("}}})")),
                            0);
  };
  const auto kept = parse(kMaxStoredAnnotations);
  const auto cut = parse(kMaxStoredAnnotations + 1);

  ASSERT_TRUE(kept && cut);
  EXPECT_FALSE(kept->is_cut);
  EXPECT_EQ(kept->annotation("k8s.v1.cni.cncf.io/networks")->size(), kMaxStoredAnnotations);
  EXPECT_TRUE(cut->is_cut);
  EXPECT_EQ(*cut->annotation("k8s.v1.cni.cncf.io/networks"), "");
  EXPECT_LT(cut->annotation("k8s.v1.cni.cncf.io/networks")->capacity(), 100u) << "it is freed";
}

// Pods that have ended stay on their node's list, thousands of them if a tenant likes.
TEST(ParseStoredPod, KeepsLittleOfAPodThatHasEnded) {
  const auto is_cut = [](std::string_view phase, std::size_t size) {
    return parse_stored_pod(
               object(cat(R"({"metadata":{"name":"p","annotations":{)"
                          R"("k8s.v1.cni.cncf.io/networks":")",
                          std::string(size, 'a'), R"("}},"status":{"phase":")", phase, R"("}})")),
               0)
        ->is_cut;
  };

  for (const std::string_view phase : {"Succeeded", "Failed"}) {
    EXPECT_FALSE(is_cut(phase, kMaxStoredBriefly)) << "its DEL may need them";
    EXPECT_TRUE(is_cut(phase, kMaxStoredBriefly + 1));
  }
  EXPECT_FALSE(is_cut("Running", kMaxStoredBriefly + 1));
  EXPECT_FALSE(is_cut("Pending", kMaxStoredBriefly + 1));
}

// A pod of a mebibyte and a half has hundreds of thousands of values, where its author likes.
TEST(UnusedMembers, AreAllListsThatAPodsAuthorMayFill) {
  const auto read = json::parse_object_without(
      kUnusedMembers,
      R"({"spec":{"nodeName":"n","securityContext":{"supplementalGroups":[1,2,3]},)"
      R"("dnsConfig":{"options":[{"name":"a"}]},"overhead":{"a":"1"},"containers":[{}]}})");

  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(json::dump(*read), R"({"spec":{"nodeName":"n"}})");
}

TEST(UnusedMembers, BesideContainersLeaveThoseThatMayHoldDevices) {
  const auto read = json::parse_object_without(
      kUnusedBesideContainers,
      R"({"spec":{"initContainers":[{"name":"a"}],"volumes":[{}],"containers":[{"name":"b"}],)"
      R"("ephemeralContainers":[{}]}})");

  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(json::dump(*read),
            R"({"spec":{"initContainers":[{"name":"a"}],"containers":[{"name":"b"}]}})");
}

// Pods that no kubelet runs, bound by their authors.
TEST(ParseStoredPod, KeepsLittleOfAPodThatComesAfterManyOthers) {
  const json::Object long_one = object(cat(R"({"metadata":{"name":"p","annotations":{)"
                                           R"("k8s.v1.cni.cncf.io/networks":")",
                                           std::string(kMaxStoredBriefly + 1, 'a'), R"("}}})"));

  EXPECT_FALSE(parse_stored_pod(long_one, kLongStoredPods - 1)->is_cut);
  EXPECT_TRUE(parse_stored_pod(long_one, kLongStoredPods)->is_cut);
}

TEST(Network, KeepsItsConfigurationWordForWord) {
  const auto network = parse_network(object(
      R"({"metadata":{"namespace":"ns","name":"net","annotations":{"k8s.v1.cni.cncf.io/resourceName":)"
      R"("intel.com/sriov"}},"spec":{"config":" {\"a\": 1.0}\n"}})"));

  ASSERT_TRUE(network.has_value()) << network.error().text();
  EXPECT_EQ(network->config, " {\"a\": 1.0}\n");
  EXPECT_EQ(network->resource_name, "intel.com/sriov");
}

TEST(Network, TellsAbsentFromEmpty) {
  const auto config_of = [](std::string_view rest) {
    return parse_network(object(cat(R"({"metadata":{"name":"n"})", rest, "}")))->config;
  };

  EXPECT_EQ(config_of(""), std::nullopt);
  EXPECT_EQ(config_of(R"(,"spec":{})"), std::nullopt);
  EXPECT_EQ(config_of(R"(,"spec":{"config":null})"), std::nullopt);
  EXPECT_EQ(config_of(R"(,"spec":{"config":""})"), "");
}

TEST(Paths, AreThoseOfTheApi) {
  EXPECT_EQ(pod_path("ns", "p"), "/api/v1/namespaces/ns/pods/p");
  EXPECT_EQ(network_path("ns", "n"),
            "/apis/k8s.cni.cncf.io/v1/namespaces/ns/network-attachment-definitions/n");
}

}  // namespace
}  // namespace mnet::kube
