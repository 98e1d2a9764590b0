#include "adapters/missed_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/group.h"
#include "aio/run.h"
#include "attach/fake_ports.h"
#include "attach/source.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "json/json.h"
#include "kube/kube.h"
#include "kube/watch_event.h"
#include "model/attachment_record.h"
#include "model/objects.h"

namespace mnet::adapters {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kStatus = R"(,"k8s.v1.cni.cncf.io/network-status":"[{}]")";

class Owners : public attach::FakeSource {
 public:
  using FakeSource::FakeSource;
  void send(attach::PodEvent event) override {
    told.push_back(cat(event.pod->ns, "/", event.pod->name));
    FakeSource::send(std::move(event));
  }
  std::vector<std::string> told;
};

class MissedPodsTest : public testing::Test {
 protected:
  void put(std::string_view name, std::string_view networks, std::string_view more = "",
           std::string_view phase = "Running") {
    const auto object =
        json::parse_object(cat(R"({"metadata":{"namespace":"n","name":")", name, R"(","uid":"u-)",
                               name, R"(","annotations":{"k8s.v1.cni.cncf.io/networks":")",
                               networks, "\"", more, R"(}},"status":{"phase":")", phase, R"("}})"));
    ASSERT_TRUE(object.has_value());
    ASSERT_TRUE(pods.change(kube::EventType::kAdded, *object).has_value());
  }
  void add_record(const std::string& pod, const std::string& uid) {
    model::AttachmentRecord record;
    record.container_id = cat("c-", pod);
    record.pod_ns = "n";
    record.pod_name = pod;
    record.pod_uid = uid;
    node.records.records[record.container_id] = model::encode_record(record);
  }
  void look() {
    MissedPods missed(pods, node.records, owners, Log(), std::chrono::milliseconds(0));
    ASSERT_TRUE(aio::run(loop, missed.look({"/d"})).has_value());
    count = missed.count();
  }

  aio::asio::io_context loop{1};
  kube::Store<model::PodObject> pods{&kube::parse_stored_pod};
  attach::FakeNode node;
  Owners owners{node.calls};
  std::size_t count = 0;
};

// pain 3
TEST_F(MissedPodsTest, EachIsWarnedWhatIsMissingAndWhatToDo) {
  put("b", "x");
  put("a", "not [ readable");

  look();

  EXPECT_THAT(owners.told, ElementsAre("n/a", "n/b"));
  EXPECT_THAT(owners.events[0],
              AllOf(HasSubstr("Warning NetworksNotAttached: "),
                    HasSubstr("without the networks of its annotation k8s.v1.cni.cncf.io/networks"),
                    HasSubstr("delete the pod")));
  EXPECT_EQ(count, 2U);
}

TEST_F(MissedPodsTest, NobodyIsWarnedWhoLacksNothing) {
  put("attached", "x", kStatus);
  put("asks-for-nothing", " ");
  put("starts", "x", "", "Pending");
  put("ended", "x", "", "Succeeded");

  look();

  EXPECT_THAT(owners.told, IsEmpty());
  EXPECT_EQ(count, 0U);
}

TEST_F(MissedPodsTest, ARecordIsEnoughIfItIsOfThatPod) {
  put("ours", "x");
  put("replaced", "x");
  put("static", "x", R"(,"kubernetes.io/config.source":"file")");
  add_record("ours", "u-ours");
  add_record("replaced", "u-of-its-predecessor");
  add_record("static", "u-of-the-file");
  node.records.damaged_records.insert("c-damaged");

  look();

  EXPECT_THAT(owners.told, ElementsAre("n/replaced"));
}

TEST_F(MissedPodsTest, NobodyIsToldToDeleteAPodWhoseRecordCannotBeRead) {
  put("ours", "x");
  add_record("ours", "u-ours");
  node.records.find_record_error = Error::from_errno(EMFILE, "open c-ours.json");
  MissedPods missed(pods, node.records, owners, Log(), std::chrono::milliseconds(0));

  EXPECT_FALSE(aio::run(loop, missed.look({"/d"})).has_value());

  EXPECT_THAT(owners.told, IsEmpty());
}

TEST_F(MissedPodsTest, WhoGetsAStatusMeanwhileIsNoneOfThem) {
  put("late", "x");
  put("early", "x");
  MissedPods missed(pods, node.records, owners, Log(), std::chrono::milliseconds(50));
  aio::Group group(loop.get_executor(), Log());
  group.spawn("look", missed.look({"/d"}));
  loop.poll();  // as far as the grace

  put("early", "x", kStatus);
  ASSERT_TRUE(aio::run(loop, group.join()).has_value());

  EXPECT_THAT(owners.told, ElementsAre("n/late"));
}

TEST_F(MissedPodsTest, WhoIsMendedLaterDoesNotCountAnyMore) {
  put("a", "x");
  put("b", "x");
  MissedPods missed(pods, node.records, owners, Log(), std::chrono::milliseconds(0));
  ASSERT_TRUE(aio::run(loop, missed.look({"/d"})).has_value());
  ASSERT_EQ(missed.count(), 2U);

  put("a", "x", kStatus);

  EXPECT_EQ(missed.count(), 1U);
}

}  // namespace
}  // namespace mnet::adapters
