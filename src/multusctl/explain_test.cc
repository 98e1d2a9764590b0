#include "multusctl/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "aio/run.h"
#include "base/text.h"
#include "json/at.h"
#include "json/json.h"
#include "model/objects.h"

namespace mnet::multusctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ExplainInput input_of(std::string networks, std::string config) {
  model::PodObject pod{.ns = "default", .name = "web", .uid = "u1"};
  pod.annotations["k8s.v1.cni.cncf.io/networks"] = std::move(networks);
  ExplainInput input;
  input.pod = std::make_shared<const model::PodObject>(std::move(pod));
  input.definitions.push_back({.ns = "default", .name = "blue", .config = std::move(config)});
  return input;
}

constexpr const char* kBlue =
    R"({"cniVersion":"1.0.0","type":"macvlan","master":"eth1","capabilities":{"ips":true},)"
    R"("ipam":{"type":"static"},"password":"hunter2"})";

// With flannel as the cluster network, and more members.
void know_node(ExplainInput& input, const std::string& members) {
  input.is_node_known = true;
  input.conf = *json::parse_object(cat(
      R"({"delegates":[{"cniVersion":"1.0.0","name":"flannel","type":"flannel"}])", members, "}"));
}

TEST(Explain, ShowsEachNetworkAsAnAddWouldAttachIt) {
  const auto explained = aio::run(explain(input_of(
      R"([{"name":"blue","interface":"data0","ips":["10.1.0.5/24"],"default-route":["10.1.0.1"]}])",
      kBlue)));

  ASSERT_TRUE(explained.has_value()) << explained.error().text();
  const json::Array* networks = json::as_array(explained->find("networks"));
  ASSERT_TRUE(networks != nullptr && networks->size() == 2);
  const json::Object& first = *(*networks)[0].as_object();
  const json::Object& blue = *(*networks)[1].as_object();
  EXPECT_EQ(json::text_at(first, {"interface"}), "eth0");
  EXPECT_EQ(json::text_at(first, {"defaultRoutes"}), "loses IPv4");
  EXPECT_EQ(json::text_at(blue, {"interface"}), "data0");
  EXPECT_EQ(json::text_at(blue, {"network"}), "default/blue");
  EXPECT_EQ(json::text_at(blue, {"source"}), "annotation");
  EXPECT_EQ(json::text_at(blue, {"defaultRoutes"}), "owns IPv4 via 10.1.0.1");
  EXPECT_EQ(json::text_at(blue, {"config", "name"}), "blue");
  EXPECT_EQ(json::dump(*json::find_at(blue, {"capabilityArgs", "ips"})), R"(["10.1.0.5/24"])");
  EXPECT_THAT(
      explained_text(*explained),
      AllOf(HasSubstr("data0  default/blue\n  from:           annotation\n"),
            HasSubstr("only the node knows the cluster network"), Not(HasSubstr("hunter2"))));
}

TEST(Explain, FailsAsAnAddWould) {
  const auto gone = aio::run(explain(input_of("green", kBlue)));
  const auto twice = aio::run(explain(input_of("blue@a,blue@a", kBlue)));
  ExplainInput isolated = input_of("other/blue", kBlue);
  isolated.conf.set("namespaceIsolation", true);
  const auto denied = aio::run(explain(std::move(isolated)));

  ASSERT_TRUE(!gone && !twice && !denied);
  EXPECT_THAT(gone.error().text(),
              HasSubstr("Multus: [default/web/u1]: error loading k8s delegates k8s args: "));
  EXPECT_THAT(gone.error().text(),
              HasSubstr("cannot find a network-attachment-definition (green)"));
  EXPECT_THAT(twice.error().text(), HasSubstr("is requested by two networks"));
  EXPECT_THAT(denied.error().text(), HasSubstr("namespace isolation enabled"));
}

TEST(Explain, TellsWhyIsolationAllowsEachNetwork) {
  ExplainInput input = input_of("blue,shared/blue", kBlue);
  input.definitions.push_back({.ns = "shared", .name = "blue", .config = kBlue});
  know_node(input, "");
  ExplainInput isolated = input, elsewhere = input;
  know_node(isolated, R"(,"namespaceIsolation":true,"globalNamespaces":"shared")");
  elsewhere.is_node_known = false;

  const auto open = aio::run(explain(std::move(input)));
  const auto explained = aio::run(explain(std::move(isolated)));
  const auto unknown = aio::run(explain(std::move(elsewhere)));

  ASSERT_TRUE(open && unknown && explained.has_value()) << explained.error().text();
  EXPECT_THAT(explained_text(*unknown), HasSubstr("isolation:      not known here\n"));
  EXPECT_THAT(explained_text(*open), HasSubstr("isolation:      off\n"));
  EXPECT_THAT(explained_text(*explained),
              AllOf(HasSubstr("isolation:      does not apply: no annotation asks for it\n"),
                    HasSubstr("isolation:      allowed: the pod's own namespace\n"),
                    HasSubstr("isolation:      allowed: shared is in globalNamespaces\n")));
}

TEST(Explain, TellsWhyIsolationAllowsADefaultNetworkOfMultusNamespace) {
  model::PodObject pod{.ns = "default", .name = "web", .uid = "u1"};
  pod.annotations["v1.multus-cni.io/default-network"] = "main";
  ExplainInput input;
  input.pod = std::make_shared<const model::PodObject>(std::move(pod));
  input.definitions.push_back({.ns = "kube-system", .name = "main", .config = kBlue});
  know_node(input, R"(,"namespaceIsolation":true)");

  const auto explained = aio::run(explain(std::move(input)));

  ASSERT_TRUE(explained.has_value()) << explained.error().text();
  EXPECT_THAT(explained_text(*explained),
              HasSubstr("isolation:      allowed: kube-system is multusNamespace"));
}

TEST(Explain, TakesTheClusterNetworkOfTheNodeIfItIsKnown) {
  ExplainInput input = input_of("blue", kBlue);
  know_node(input, "");

  const auto explained = aio::run(explain(std::move(input)));

  ASSERT_TRUE(explained.has_value()) << explained.error().text();
  EXPECT_THAT(explained_text(*explained),
              AllOf(HasSubstr("eth0  flannel\n  from:           cluster network\n"),
                    Not(HasSubstr("only the node knows the cluster network"))));
}

TEST(Explain, ShowsTheDeviceOfEachNetwork) {
  ExplainInput input = input_of("blue", kBlue);
  input.definitions[0].resource_name = "vendor.com/nic";

  const auto explained = aio::run(explain(std::move(input)));

  ASSERT_TRUE(explained.has_value()) << explained.error().text();
  EXPECT_THAT(
      explained_text(*explained),
      AllOf(HasSubstr("device:         given-by-the-kubelet-1 of resource vendor.com/nic\n"),
            HasSubstr("not known here: the kubelet allocates")));
}

TEST(Explain, PrintsNothingThatATerminalObeys) {
  const auto explained =
      aio::run(explain(input_of("blue",
                                "{\"cniVersion\":\"1.0.0\",\"type\":\"macvlan\",\"note\":\"\xc2\x9b"
                                "31m\xe2\x80\xae\"}")));

  ASSERT_TRUE(explained.has_value()) << explained.error().text();
  const std::string text = explained_text(*explained);
  EXPECT_THAT(text, HasSubstr("\\u009b31m\\u202e"));
  EXPECT_EQ(text.find('\xc2'), std::string::npos);
}

}  // namespace
}  // namespace mnet::multusctl
