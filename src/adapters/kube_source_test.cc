// Lookups and what is said of them, against a server that says exactly what the test wants;
// tests/cluster has the real one.
#include "adapters/kube_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "aio/group.h"
#include "aio/run.h"
#include "base/log.h"
#include "base/test_log.h"
#include "base/text.h"
#include "http/scripted_server.h"
#include "kube/fake_api.h"
#include "kube/objects.h"

namespace mnet::adapters {
namespace {

using namespace std::chrono_literals;
using http::Peer;
using http::RawRequest;
using testing::AllOf;
using testing::HasSubstr;

// 02, 6.2 step 4: a DEL that no record helps.
TEST(KubeSource, ALookupThatIsMadeOnceIsNotRepeated) {
  aio::asio::io_context loop;  // outlives the connections
  const kube::FakeApi server([](Peer& peer, const RawRequest&) { peer.answer(503, "{}"); });
  KubeSource source(loop.get_executor(), server.client(), {.follows = false}, Log());

  auto pod = aio::run(loop, source.find_pod({.ns = "n", .name = "a", .uid = "u", .once = true}));

  EXPECT_FALSE(pod.has_value());
  EXPECT_EQ(server.asked().size(), 1u);
}

std::string pod_at(std::string_view version) {
  return cat(R"({"metadata":{"namespace":"n","name":"a","uid":"u","resourceVersion":")", version,
             R"("},"spec":{"nodeName":"node1"}})");
}

// A server whose watch tells of version 5 of a pod, and whose storage has 9.
class KubeSourceOfOnePod : public testing::Test {
 protected:
  void SetUp() override {
    following_.spawn("stores", source_.follow());
    ASSERT_TRUE(aio::run(loop_, source_.wait_synced(std::chrono::steady_clock::now() + 1h)));
  }
  void TearDown() override {
    following_.cancel();
    (void)aio::run(loop_, following_.join());
  }

  aio::asio::io_context loop_;  // outlives the connections
  const kube::FakeApi server_{[](Peer& peer, const RawRequest& request) {
    if (!request.target().contains("watch=true")) return peer.answer(200, pod_at("9"));
    peer.begin_chunks();
    if (request.target().starts_with(kube::kPodsPath)) {
      peer.chunk(cat(R"({"type":"ADDED","object":)", pod_at("5"), "}\n"));
    }
    peer.chunk(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"6",)"
               R"("annotations":{"k8s.io/initial-events-end":"true"}}}})"
               "\n");
    peer.wait_for_close();
  }};
  KubeSource source_{loop_.get_executor(), server_.client(), {.node_name = "node1"}, Log()};
  aio::Group following_{loop_.get_executor(), Log()};
};

TEST_F(KubeSourceOfOnePod, ReadsTheNewestPodThoughItRemembersOne) {
  const auto known = aio::run(loop_, source_.find_pod({.ns = "n", .name = "a", .uid = "u"}));
  const auto newest =
      aio::run(loop_, source_.find_pod({.ns = "n", .name = "a", .uid = "u", .newest = true}));

  ASSERT_TRUE(known.has_value() && newest.has_value());
  EXPECT_EQ((*known)->resource_version, "5");
  EXPECT_EQ((*newest)->resource_version, "9");
}

// A pod in other hands is replaced when the watch tells of a change; the new one would lie between
// the blocks of requests and keep these pages (0047).
TEST_F(KubeSourceOfOnePod, LeavesThePodItRemembersToTheWatch) {
  const auto found = aio::run(loop_, source_.find_pod({.ns = "n", .name = "a", .uid = "u"}));

  ASSERT_TRUE(found.has_value());
  const auto remembered = source_.pods().find("n", "a");
  EXPECT_EQ(**found, *remembered);
  EXPECT_EQ(remembered.use_count(), 2);  // the store's, and ours
}

// 03, 2.13: people and scripts search for these lines.
TEST(KubeSource, TellsWhichStoresFollowWhatAndAreNotFilled) {
  aio::asio::io_context loop;  // outlives the connections
  const kube::FakeApi server([](Peer& peer, const RawRequest&) { peer.answer(503, "{}"); });
  const auto lines = std::make_shared<TestLog>();
  const Log log({lines}, LogLevel::kVerbose);
  KubeSource source(loop.get_executor(), server.client(), {.node_name = "node \"1\""}, log);
  aio::Group following(loop.get_executor(), Log());

  following.spawn("stores", source.follow());
  ASSERT_TRUE(kube::drive(loop, [&lines] { return !lines->lines().empty(); }));
  source.report_unsynced();
  following.cancel();
  (void)aio::run(loop, following.join());

  EXPECT_THAT(lines->text(),
              AllOf(HasSubstr("[verbose] Filtering pod watch for node \"node \\\"1\\\"\"\n"),
                    HasSubstr("[error] failed to sync pod informer cache\n"),
                    HasSubstr("[error] failed to sync net-attach-def informer cache\n")));
}

}  // namespace
}  // namespace mnet::adapters
