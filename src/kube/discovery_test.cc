#include "kube/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "aio/run.h"
#include "http/scripted_server.h"
#include "kube/fake_api.h"

namespace mnet::kube {
namespace {

using testing::ElementsAre;

TEST(Discovery, MakesThePathsOfObjects) {
  const Resource bindings{.group = "rbac.authorization.k8s.io",
                          .version = "v1",
                          .kind = "ClusterRoleBinding",
                          .plural = "clusterrolebindings",
                          .singular = "clusterrolebinding"};
  const Resource maps{.version = "v1",
                      .kind = "ConfigMap",
                      .plural = "configmaps",
                      .singular = "configmap",
                      .is_namespaced = true};

  EXPECT_EQ(bindings.object_path("ignored", "a:b"),
            "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/a%3Ab");
  EXPECT_EQ(bindings.label(), "clusterrolebinding.rbac.authorization.k8s.io");
  EXPECT_EQ(maps.object_path("n", "m"), "/api/v1/namespaces/n/configmaps/m");
  EXPECT_EQ(maps.collection_path(""), "/api/v1/configmaps");
  EXPECT_EQ(maps.label(), "configmap");
}

TEST(Discovery, AsksOncePerVersionAndTakesNoSubresource) {
  aio::asio::io_context loop;
  const kube::FakeApi server([](http::Peer& peer, const http::RawRequest& request) {
    if (request.target() != "/apis/apps/v1") return peer.answer(404, "{}");
    peer.answer(200, R"({"kind":"APIResourceList","resources":[
      {"name":"deployments/status","kind":"Deployment","namespaced":true,"verbs":["get"]},
      {"name":"deployments","singularName":"deployment","kind":"Deployment","namespaced":true,
       "shortNames":["deploy"],"verbs":["get"]}]})");
  });
  const auto api = server.client();
  Discovery discovery(*api);
  const auto find = [&](std::string version, std::string kind) {
    return aio::run(loop, discovery.find_kind(std::move(version), std::move(kind)));
  };

  const auto deployment = find("apps/v1", "Deployment");

  ASSERT_TRUE(deployment && *deployment);
  EXPECT_EQ((*deployment)->plural, "deployments");
  EXPECT_THAT((*deployment)->short_names, ElementsAre("deploy"));
  EXPECT_EQ(find("apps/v1", "deployment"), std::nullopt);
  EXPECT_EQ(find("v1", "Pod"), std::nullopt);
  EXPECT_THAT(server.asked(), ElementsAre("GET /apis/apps/v1", "GET /api/v1"));
}

}  // namespace
}  // namespace mnet::kube
