// Against a kubelet and an API server that say exactly what the test wants.
#include "adapters/node_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <latch>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/blocking_pool.h"
#include "aio/fake_timer.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/test_log.h"
#include "base/text.h"
#include "devices/fake_kubelet.h"
#include "devices/proto_text.h"
#include "http/scripted_server.h"
#include "kube/fake_api.h"
#include "kube/kube.h"
#include "model/objects.h"
#include "sys/test_dir.h"

namespace mnet::adapters {
namespace {

using devices::FakeAnswer;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using Found = std::map<std::string, std::vector<std::string>>;

constexpr const char* kCheckpoint =
    R"({"Data":{"PodDeviceEntries":[
         {"PodUID":"u1","ContainerName":"a","ResourceName":"r","DeviceIDs":{"0":["1"]}},
         {"PodUID":"u1","ContainerName":"b","ResourceName":"r","DeviceIDs":{"0":["2"]}}],
       "RegisteredDevices":{"r":["1","2"]}}})";

constexpr const char* kClaim =
    R"({"status":{"allocation":{"devices":{"results":[
         {"request":"q","driver":"d","pool":"o","device":"x"}]}}}})";
constexpr const char* kSlices =
    R"({"metadata":{},"items":[{"spec":{"driver":"d","pool":{"name":"o","generation":1},
         "devices":[{"name":"x","attributes":{
           "k8s.cni.cncf.io/deviceID":{"string":"1"},
           "k8s.cni.cncf.io/resourceName":{"string":"r"}}}]}}]})";

class NodeDevicesTest : public testing::Test {
 protected:
  NodeDevicesTest() {
    pod_->ns = "n";
    pod_->name = "p";
    pod_->uid = "u1";
    pod_->node_name = "node1";
    std::filesystem::create_directories(dir_ / "pod-resources");
  }
  ~NodeDevicesTest() override {
    if (!devices_) return;
    devices_->cancel();
    (void)aio::run(loop_, devices_->wait_ended(aio::kNoDeadline));
  }

  void serve(devices::FakeKubelet::Script script) {
    kubelet_ = std::make_unique<devices::FakeKubelet>(dir_ / "pod-resources/kubelet.sock",
                                                      std::move(script));
  }
  void list_device(const std::string& id) {
    serve([id](const std::string&) {
      return FakeAnswer{
          .message = devices::pod_text("n", "p", {devices::container_text("c", {{"r", {id}}})})};
    });
  }
  void save_checkpoint() { dir_.write("device-plugins/kubelet_internal_checkpoint", kCheckpoint); }
  // Answers by path, in front of the query; else with 404.
  void answer(std::map<std::string, std::string> answers) {
    server_ = std::make_unique<kube::FakeApi>(
        [answers = std::move(answers)](http::Peer& peer, const http::RawRequest& request) {
          const std::string target = request.target();
          const auto found = answers.find(target.substr(0, target.find('?')));
          if (found == answers.end()) return peer.answer(404, "{}");
          peer.answer(200, found->second);
        });
    api_ = server_->client();
  }
  NodeDevices& made() {
    NodeDevicesSettings settings;
    settings.kubelet_dir = dir_.path();
    settings.kubelet.timer = &timer_;
    devices_.emplace(loop_.get_executor(), std::move(settings), pool_, api_.get(), Log());
    return *devices_;
  }
  Result<Found> allocated(const std::string& uid = {}) {
    return aio::run(loop_, made().allocated(pod_, uid, log_));
  }
  Result<bool> is_device(const std::string& resource) {
    return aio::run(loop_, made().is_device(pod_, resource, Log()));
  }

  sys::TestDir dir_;
  std::shared_ptr<TestLog> lines_ = std::make_shared<TestLog>();
  const Log log_ = Log({lines_}, LogLevel::kVerbose).with_request("an-id");
  boost::asio::io_context loop_;
  aio::BlockingPool pool_{1};
  aio::FakeTimer timer_;
  std::shared_ptr<model::PodObject> pod_ = std::make_shared<model::PodObject>();
  std::unique_ptr<devices::FakeKubelet> kubelet_;
  std::unique_ptr<kube::FakeApi> server_;
  std::unique_ptr<kube::Api> api_;
  std::optional<NodeDevices> devices_;
};

TEST_F(NodeDevicesTest, AreThoseThatTheKubeletLists) {
  list_device("7");
  save_checkpoint();
  EXPECT_THAT(*allocated(), ElementsAre(Pair("r", ElementsAre("7"))));
  EXPECT_EQ(made().name(), cat("the kubelet (", dir_ / "pod-resources/kubelet.sock", ")"));
}

// 02, 12: row 85
TEST_F(NodeDevicesTest, AreReadFromTheCheckpointOnlyWithoutASocket) {
  save_checkpoint();
  EXPECT_THAT(*allocated(), ElementsAre(Pair("r", ElementsAre("1", "2"))));
  EXPECT_THAT(*allocated("of-a-static-pod"), IsEmpty());

  serve([](const std::string&) { return FakeAnswer{.status = 12, .why = "no such service"}; });
  auto refused = allocated();
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().text(),
              AllOf(HasSubstr("failed to get resourceMap from ResourceClient"),
                    HasSubstr("Unimplemented (12)")));
}

// Stores keep no containers, and the checkpoint is in random order.
TEST_F(NodeDevicesTest, OfTheCheckpointComeInTheOrderThatTheApiSays) {
  save_checkpoint();
  answer({{"/api/v1/namespaces/n/pods/p",
           R"({"metadata":{"namespace":"n","name":"p"},
               "spec":{"initContainers":[{"name":"b","restartPolicy":"Always"},{"name":"x"}],
                       "containers":[{"name":"a"}]}})"}});
  EXPECT_THAT(*allocated(), ElementsAre(Pair("r", ElementsAre("2", "1"))));
}

// 02, 12: row 86
TEST_F(NodeDevicesTest, CannotBeToldWithoutSocketAndCheckpoint) {
  auto none = allocated();
  ASSERT_FALSE(none.has_value());
  EXPECT_THAT(none.error().text(),
              AllOf(HasSubstr("kubelet.sock"), HasSubstr("error reading file"),
                    HasSubstr("kubelet_internal_checkpoint"), HasSubstr("kubeletDir")));
}

TEST_F(NodeDevicesTest, OfAnotherKindAreToldWithTheIdOfTheRequest) {
  list_device("7");
  answer({{"/apis/resource.k8s.io/v1/namespaces/n/resourceclaims/c", kClaim},
          {"/apis/resource.k8s.io/v1/resourceslices", R"({"metadata":{},"items":[]})"}});
  pod_->resource_claims = R"({"spec.resourceClaims":[{"name":"a","resourceClaimName":"c"}]})";

  EXPECT_THAT(*allocated(), ElementsAre(Pair("r", ElementsAre("7"))));
  EXPECT_THAT(lines_->text(), AllOf(HasSubstr("device x of driver d in claim c is ignored"),
                                    HasSubstr(" request=an-id\n")));
}

TEST_F(NodeDevicesTest, OfClaimsComeAfterTheKubelets) {
  list_device("7");
  answer({{"/apis/resource.k8s.io/v1/namespaces/n/resourceclaims/c", kClaim},
          {"/apis/resource.k8s.io/v1/resourceslices", kSlices}});
  pod_->resource_claims = R"({"spec.resourceClaims":[{"name":"a","resourceClaimName":"c"}]})";

  EXPECT_THAT(*allocated(), ElementsAre(Pair("r", ElementsAre("7", "1"))));
  EXPECT_THAT(server_->asked(),
              ElementsAre("GET /apis/resource.k8s.io/v1/namespaces/n/resourceclaims/c",
                          "GET /apis/resource.k8s.io/v1/resourceslices?limit=16&fieldSelector="
                          "spec.nodeName%3Dnode1%2Cspec.driver%3Dd"));
}

// The first list begins at once, and is answered when all pods have read their claims.
TEST_F(NodeDevicesTest, OfSixtyPodsAtOnceTakeTwoListsOfSlices) {
  serve([](const std::string&) { return FakeAnswer{}; });
  std::latch claims(60);
  server_ =
      std::make_unique<kube::FakeApi>([&claims](http::Peer& peer, const http::RawRequest& request) {
        if (request.target().contains("/resourceclaims/")) {
          peer.answer(200, kClaim);
          claims.count_down();
        } else {
          claims.wait();
          peer.answer(200, kSlices);
        }
      });
  api_ = server_->client();
  pod_->resource_claims = R"({"spec.resourceClaims":[{"name":"a","resourceClaimName":"c"}]})";
  NodeDevices& devices = made();
  std::vector<aio::Task<Found>> all;
  for (int i = 0; i < 60; ++i) all.push_back(devices.allocated(pod_, "", Log()));

  auto together = [](std::vector<aio::Task<Found>> tasks) -> aio::Task<std::vector<Result<Found>>> {
    co_return co_await aio::all(std::move(tasks));
  };
  const auto found = aio::run(loop_, together(std::move(all)));

  ASSERT_TRUE(found.has_value());
  for (const auto& one : *found) EXPECT_THAT(*one, ElementsAre(Pair("r", ElementsAre("1"))));
  EXPECT_EQ(std::ranges::count_if(
                server_->asked(),
                [](const std::string& asked) { return asked.contains("/resourceslices?"); }),
            2);
}

// The object that is followed may be older than the claim.
TEST_F(NodeDevicesTest, OfATemplateWithoutClaimAreLookedForOnceMore) {
  list_device("7");
  answer({{"/api/v1/namespaces/n/pods/p",
           R"({"metadata":{"namespace":"n","name":"p"},
               "spec":{"resourceClaims":[{"name":"a","resourceClaimTemplateName":"t"}]},
               "status":{"resourceClaimStatuses":[{"name":"a","resourceClaimName":"made"}]}})"}});
  pod_->resource_claims =
      R"({"spec.resourceClaims":[{"name":"a","resourceClaimTemplateName":"t"}]})";

  auto found = allocated();

  ASSERT_FALSE(found.has_value());
  EXPECT_THAT(found.error().text(), AllOf(HasSubstr("failed to get resourceMap from DRA client"),
                                          HasSubstr("resource claim n/made not found")));
}

TEST_F(NodeDevicesTest, CostAPodWithoutClaimsNoRequest) {
  list_device("7");
  answer({});
  ASSERT_TRUE(allocated().has_value());
  EXPECT_THAT(server_->asked(), IsEmpty());
}

// 02, 8.1
TEST_F(NodeDevicesTest, AreOfAResourceThatTheKubeletOrItsCheckpointKnows) {
  serve([](const std::string&) {
    return FakeAnswer{.message = devices::field(1, devices::devices_text({"now", {"1"}}))};
  });
  EXPECT_TRUE(*is_device("now"));
  EXPECT_FALSE(*is_device("r"));
  save_checkpoint();
  EXPECT_TRUE(*is_device("r"));
  EXPECT_FALSE(*is_device("bridge.network.kubevirt.io/br0"));
}

// A kubelet that starts deletes the slices of its node until drivers publish them again.
TEST_F(NodeDevicesTest, MayBeOfAnyResourceWhileNoSliceListsADeviceOfTheClaims) {
  serve([](const std::string&) { return FakeAnswer{}; });
  pod_->resource_claims = R"({"spec.resourceClaims":[{"name":"a","resourceClaimName":"c"}]})";
  const std::string claim = "/apis/resource.k8s.io/v1/namespaces/n/resourceclaims/c";
  const std::string slices = "/apis/resource.k8s.io/v1/resourceslices";
  answer({{claim, kClaim}, {slices, R"({"metadata":{},"items":[]})"}});

  EXPECT_THAT(*allocated(), IsEmpty());
  const auto unknown = is_device("r");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(unknown.error().text(),
              HasSubstr("no resource slice lists device x of driver d in claim c now"));

  answer({{claim, kClaim}, {slices, kSlices}});
  EXPECT_TRUE(*is_device("r"));
  EXPECT_FALSE(*is_device("bridge.network.kubevirt.io/br0"));
}

TEST_F(NodeDevicesTest, AreUnknownIfNothingCanBeRead) { EXPECT_FALSE(is_device("r").has_value()); }

}  // namespace
}  // namespace mnet::adapters
