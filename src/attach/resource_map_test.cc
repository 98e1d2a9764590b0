#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "attach/node_fixture.h"
#include "attach/plan.h"
#include "attach/pod_fixture.h"
#include "attach/ports.h"
#include "attach/resolve.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "cni/error.h"
#include "json/json.h"
#include "model/delegate.h"
#include "model/netconf.h"
#include "model/objects.h"
#include "model/requested_networks.h"

namespace mnet::attach {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ResourcesTest : public ResolverTest {
 protected:
  ResourcesTest() {
    for (const char* name : {"a", "b", "c"}) {
      add_network("ns1", name, R"({"type":"sriov"})", "intel.com/vf");
      add_network("kube-system", name, R"({"type":"sriov"})", "intel.com/vf");
    }
  }

  void name_device_of_plain(const std::string& id) {
    add_network("ns1", "plain", R"({"type":"t"})");
    select(R"([{"name":"plain","deviceID":")" + id + R"("}])");
  }

  std::vector<std::string> devices(const Result<Resolver::Resolved>& resolved) {
    if (!resolved) return {resolved.error().text()};
    std::vector<std::string> ids;
    for (const model::Delegate& delegate : resolved->delegates)
      ids.push_back(delegate.selection.device_id);
    return ids;
  }
};

// 02, 12: row 78
TEST_F(ResourcesTest, AreHandedOutInTheOrderOfTheirContainersAndWrittenIntoEveryPlugin) {
  add_network("ns1", "list", R"({"plugins":[{"type":"x"},{"type":"y"}]})", "intel.com/vf");
  node_.devices.ids["intel.com/vf"] = {"b", "a"};
  select("a,list");

  auto resolved = resolve();

  ASSERT_THAT(devices(resolved), ElementsAre("", "b", "a"));
  EXPECT_EQ(resolved->delegates[1].selection.resource_name, "intel.com/vf");
  EXPECT_EQ(json::parse(resolved->delegates[2].bytes).value(),
            json::parse(R"({"name":"list","plugins":[{"type":"x","deviceID":"a","pciBusID":"a"},
                            {"type":"y","deviceID":"a","pciBusID":"a"}]})")
                .value());
  EXPECT_EQ(node_.devices.asked, 1);
}

// 02, 12: row 79
TEST_F(ResourcesTest, AreSharedByAllNetworksOfARequest) {
  node_.devices.ids["intel.com/vf"] = {"1", "2", "3", "4"};
  annotate({{std::string(model::kDefaultNetworkAnnotation), "c"},
            {std::string(model::kNetworksAnnotation), "a"}});

  auto resolved = resolve(path_and(R"("defaultNetworks":["a","b"])"));

  EXPECT_THAT(names(resolved),
              ElementsAre("kube-system/c", "kube-system/a", "kube-system/b", "ns1/a"));
  EXPECT_THAT(devices(resolved), ElementsAre("1", "2", "3", "4"));
}

TEST_F(ResourcesTest, AreNotSpentOnAMasterThatIsReplaced) {
  node_.devices.ids["intel.com/vf"] = {"1"};
  annotate({{std::string(model::kDefaultNetworkAnnotation), "b"}});

  EXPECT_THAT(devices(resolve(R"("clusterNetwork":"a")")), ElementsAre("1"));
}

// 02, 12: row 80; pain 25
TEST_F(ResourcesTest, ThatAreTakenFailTheRequestWithCode11) {
  node_.devices.ids["intel.com/vf"] = {"1"};
  select("a,b");

  auto resolved = resolve();

  ASSERT_FALSE(resolved);
  EXPECT_THAT(resolved.error(), HasCode(cni::Code::kTryAgainLater));
  EXPECT_THAT(resolved.error().text(), AllOf(HasSubstr("intel.com/vf"), HasSubstr("network ns1/b"),
                                             HasSubstr("pod ns1/p1"), HasSubstr("kubelet")));
}

// 02, 12: row 80; pain 25
TEST_F(ResourcesTest, ThatTheKubeletKnowsButDidNotGiveFailTheRequestWithCode11) {
  node_.devices.known = {"intel.com/vf"};
  node_.devices.ids["other/vf"] = {"1", "2"};
  select("a");

  auto resolved = resolve();

  ASSERT_FALSE(resolved);
  EXPECT_THAT(resolved.error(), HasCode(cni::Code::kTryAgainLater));
  EXPECT_THAT(resolved.error().text(), AllOf(HasSubstr("kubelet allocated none to the pod"),
                                             HasSubstr("the pod has devices of other/vf (2)")));
}

TEST_F(ResourcesTest, ThatNoClaimHoldsAreSaidToBeInNone) {
  node_.devices.known = {"intel.com/vf"};
  select("a");
  auto pod = std::make_shared<model::PodObject>(*node_.source.pods["ns1/p1"]);
  pod->resource_claims = R"({"spec.resourceClaims":[{"name":"c","resourceClaimName":"c"}]})";
  node_.source.pods["ns1/p1"] = pod;

  auto resolved = resolve();

  ASSERT_FALSE(resolved);
  EXPECT_THAT(resolved.error().text(),
              HasSubstr("kubelet and the drivers of its claims allocated none to the pod"));
}

// 02, 12: row 80
TEST_F(ResourcesTest, ThatAreNoDevicesLetTheirNetworkRunWithout) {
  select("a");

  auto resolved = resolve();

  ASSERT_THAT(devices(resolved), ElementsAre("", ""));
  EXPECT_EQ(resolved->delegates[1].selection.resource_name, "");
  EXPECT_TRUE(logged("resource intel.com/vf of network ns1/a is not a device resource"));
}

// The kubelet, its checkpoint and the pod's claims are read for each question; a pod may have
// hundreds of networks.
TEST_F(ResourcesTest, ThatAreNoDevicesAreAskedForOnce) {
  select("a,b,c,a,b,c");

  EXPECT_THAT(devices(resolve()), ElementsAre("", "", "", "", "", "", ""));
  EXPECT_EQ(node_.devices.asked_whether, 1);
}

TEST_F(ResourcesTest, ThatAreNoDevicesAreSixteenAtMost) {
  std::string all;
  for (int i = 0; i < 17; ++i) {
    add_network("ns1", cat("m", i), R"({"type":"t"})", cat("marker/br", i));
    all += cat(i == 0 ? "" : ",", "m", i);
  }
  select(all);

  auto resolved = resolve();

  ASSERT_FALSE(resolved);
  EXPECT_THAT(resolved.error(), HasCode(cni::Code::kTryAgainLater));
  EXPECT_THAT(resolved.error().text(), HasSubstr("more than 16 resources"));
  EXPECT_EQ(node_.devices.asked_whether, 16);
}

// 02, 8.1
TEST_F(ResourcesTest, ThatMayBeDevicesFailTheRequestWithCode11) {
  node_.devices.doubt = Error(Errc::kUnavailable, "no resource slice lists device x");
  select("a");

  auto resolved = resolve();

  ASSERT_FALSE(resolved);
  EXPECT_THAT(resolved.error(), HasCode(cni::Code::kTryAgainLater));
  EXPECT_THAT(resolved.error().text(), HasSubstr("no resource slice lists device x"));
}

TEST_F(ResourcesTest, CannotBeHadWhereNobodyKnowsOfDevices) {
  Ports ports = node_.cluster_ports();
  ports.devices = nullptr;
  select("a");

  auto resolved = resolve_with(ports, path_and({}));

  ASSERT_FALSE(resolved);
  EXPECT_THAT(resolved.error(), HasCode(cni::Code::kTryAgainLater));
  EXPECT_THAT(resolved.error().text(), HasSubstr("this daemon has no source of devices"));
}

// 02, 12: row 81
TEST_F(ResourcesTest, ThatTwoContainersShareAreHandedOutOnce) {
  node_.devices.ids["intel.com/vf"] = {"2", "1", "2", "1"};
  select("a,b");
  EXPECT_THAT(devices(resolve()), ElementsAre("", "2", "1"));
  select("a,b,c");
  EXPECT_FALSE(resolve());
}

TEST_F(ResourcesTest, AreNotAskedForWhereNoNetworkWantsOne) {
  add_network("ns1", "plain", R"({"type":"t"})");
  select("plain");
  ASSERT_TRUE(resolve());
  EXPECT_EQ(node_.devices.asked, 0);
}

TEST_F(ResourcesTest, AreLookedForAlsoForAPodWithoutAnObject) {
  node_.devices.ids["intel.com/vf"] = {"1"};
  node_.source.pods.clear();
  EXPECT_THAT(devices(resolve(R"("clusterNetwork":"a")")), ElementsAre("1"));
}

// 02, 12: row 153
TEST_F(ResourcesTest, OfAMasterAreInItsConfigurationAndNotOffered) {
  node_.devices.ids["intel.com/vf"] = {"0000:00:00.1"};

  auto resolved = resolve(R"("clusterNetwork":"a")");

  ASSERT_TRUE(resolved) << resolved.error().text();
  const model::Delegate& master = resolved->delegates[0];
  EXPECT_THAT(master.bytes, AllOf(HasSubstr(R"("deviceID":"0000:00:00.1")"),
                                  HasSubstr(R"("pciBusID":"0000:00:00.1")")));
  EXPECT_THAT(capability_args(model::NetConf(), master, "c1", "eth0"), IsEmpty());
}

// 02, 12: row 82
TEST_F(ResourcesTest, NamedByTheElementAreOfferedOnly) {
  name_device_of_plain("0000:00:00.9");
  node_.devices.ids["intel.com/vf"] = {"0000:00:00.8", "0000:00:00.9"};

  auto resolved = resolve();

  ASSERT_TRUE(resolved) << resolved.error().text();
  const json::Object offered =
      capability_args(model::NetConf(), resolved->delegates[1], "c1", "net1");
  EXPECT_EQ(*offered.find("deviceID")->as_string(), "0000:00:00.9");
  EXPECT_EQ(*offered.find("CNIDeviceInfoFile")->as_string(),
            "/var/run/k8s.cni.cncf.io/devinfo/cni/ns1-plain-c1_net1");
  EXPECT_FALSE(resolved->delegates[1].bytes.contains("0000:00:00.9"));
}

// 02, 12: row 82
TEST_F(ResourcesTest, NamedByTheElementMustBeThePods) {
  name_device_of_plain("0000:00:00.9");
  node_.devices.ids["intel.com/vf"] = {"0000:00:00.8"};

  auto refused = resolve();

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::kDenied);
  EXPECT_THAT(refused.error().text(),
              AllOf(HasSubstr("\"0000:00:00.9\" of network ns1/plain"), HasSubstr("pod ns1/p1"),
                    HasSubstr("kubelet did not allocate it"), HasSubstr("intel.com/vf (1)"),
                    HasSubstr("allowAnnotationDevices")));
  auto allowed = resolve(path_and(R"("allowAnnotationDevices":true)"));
  ASSERT_TRUE(allowed) << allowed.error().text();
  EXPECT_THAT(devices(allowed), ElementsAre("", "0000:00:00.9"));
}

TEST_F(ResourcesTest, NamedByTheElementAreNotGivenToAnotherNetwork) {
  add_network("ns1", "plain", R"({"type":"t"})");
  node_.devices.ids["intel.com/vf"] = {"1", "2"};
  select(R"([{"name":"plain","deviceID":"1"},{"name":"a"}])");
  EXPECT_THAT(devices(resolve()), ElementsAre("", "1", "2"));
}

}  // namespace
}  // namespace mnet::attach
