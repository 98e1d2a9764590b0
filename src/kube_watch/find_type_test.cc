#include "kube_watch/find_type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "aio/run.h"
#include "base/result.h"
#include "http/scripted_server.h"
#include "kube/discovery.h"
#include "kube/fake_api.h"

namespace mnet::kube_watch {
namespace {

using testing::ElementsAre;

TEST(ReadType, TakesTheSecondPartForAVersionOnlyIfItLooksLikeOne) {
  EXPECT_THAT(read_type("cm"), ElementsAre(TypeReading{"cm", {}, ""}));
  EXPECT_THAT(read_type("deployments.apps"), ElementsAre(TypeReading{"deployments", "apps", ""}));
  EXPECT_THAT(read_type("deployments.v1.apps"),
              ElementsAre(TypeReading{"deployments", "apps", "v1"},
                          TypeReading{"deployments", "v1.apps", ""}));
  EXPECT_THAT(read_type("nad.k8s.cni.cncf.io"),
              ElementsAre(TypeReading{"nad", "k8s.cni.cncf.io", ""}));
  EXPECT_THAT(read_type("x.v2beta1.g.io"), ElementsAre(TypeReading{"x", "g.io", "v2beta1"},
                                                       TypeReading{"x", "v2beta1.g.io", ""}));
  EXPECT_THAT(read_type("x.v1beta.g"), ElementsAre(TypeReading{"x", "v1beta.g", ""}));
  EXPECT_THAT(read_type("pods.v1"),
              ElementsAre(TypeReading{"pods", "", "v1"}, TypeReading{"pods", "v1", ""}));
}

// 04, 4: row 83
TEST(FindResource, KnowsAllNamesInAnyLetterCase) {
  const std::vector<kube::Resource> resources = {{.version = "v1",
                                                  .kind = "ConfigMap",
                                                  .plural = "configmaps",
                                                  .singular = "configmap",
                                                  .short_names = {"cm"}},
                                                 {.group = "k8s.cni.cncf.io",
                                                  .version = "v1",
                                                  .kind = "NetworkAttachmentDefinition",
                                                  .plural = "network-attachment-definitions",
                                                  .singular = "network-attachment-definition",
                                                  .short_names = {"nad", "net-attach-def"}}};

  for (const char* name : {"cm", "ConfigMap", "configmaps", "configmap", "CONFIGMAP"}) {
    ASSERT_NE(find_resource(resources, name), nullptr) << name;
    EXPECT_EQ(find_resource(resources, name)->plural, "configmaps");
  }
  EXPECT_EQ(find_resource(resources, "net-attach-def"), &resources[1]);
  EXPECT_EQ(find_resource(resources, "config"), nullptr);
}

// As when the metrics server of a cluster is down.
TEST(TypeFinder, LooksPastAGroupThatDoesNotAnswer) {
  const kube::FakeApi server([](http::Peer& peer, const http::RawRequest& request) {
    if (request.target() == "/apis") {
      return peer.answer(200, R"({"groups":[{"name":"down","preferredVersion":{"version":"v1"}},
                                            {"name":"up","preferredVersion":{"version":"v1"}}]})");
    }
    if (request.target() == "/apis/down/v1") return peer.answer(503, "{}");
    peer.answer(200, request.target() == "/api/v1"
                         ? R"({"resources":[]})"
                         : R"({"resources":[{"name":"nads","kind":"Nad","namespaced":true}]})");
  });
  aio::asio::io_context loop(1);  // outlives the connections of the client
  const auto api = server.client();
  TypeFinder finder(*api, {.most = 1});

  const auto found = aio::run(loop, finder.find("nad"));
  const auto unknown = aio::run(loop, finder.find("other"));

  ASSERT_TRUE(found.has_value() && found->has_value());
  EXPECT_EQ((*found)->group, "up");
  EXPECT_FALSE(unknown.has_value());  // the silent group may have it
}

TEST(ParseGroups, KeepsTheServersOrderAndPreference) {
  const auto groups = parse_groups(R"({"kind":"APIGroupList","groups":[
      {"name":"apps","versions":[{"version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}},
      {"name":"batch","preferredVersion":{"version":"v1beta1"}}, {"name":"odd"}]})");

  ASSERT_TRUE(groups.has_value()) << groups.error().text();
  ASSERT_EQ(groups->size(), 2u);
  EXPECT_EQ((*groups)[0].group, "apps");
  EXPECT_EQ((*groups)[1].version, "v1beta1");
  EXPECT_FALSE(parse_groups("[]").has_value());
  EXPECT_FALSE(parse_groups(R"({"groups":[5]})").has_value());
}

}  // namespace
}  // namespace mnet::kube_watch
