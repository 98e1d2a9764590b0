// Lookups and what is said of them, against a server that says exactly what the test wants;
// tests/cluster has the real one.
#include "adapters/kube_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
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

// A server whose watch is behind its storage.
TEST(KubeSource, ReadsTheNewestPodThoughItRemembersOne) {
  const auto pod = [](std::string_view version) {
    return cat(R"({"metadata":{"namespace":"n","name":"a","uid":"u","resourceVersion":")", version,
               R"("},"spec":{"nodeName":"node1"}})");
  };
  aio::asio::io_context loop;  // outlives the connections
  const kube::FakeApi server([&](Peer& peer, const RawRequest& request) {
    if (!request.target().contains("watch=true")) return peer.answer(200, pod("9"));
    peer.begin_chunks();
    if (request.target().starts_with(kube::kPodsPath)) {
      peer.chunk(cat(R"({"type":"ADDED","object":)", pod("5"), "}\n"));
    }
    peer.chunk(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"6",)"
               R"("annotations":{"k8s.io/initial-events-end":"true"}}}})"
               "\n");
    peer.wait_for_close();
  });
  KubeSource source(loop.get_executor(), server.client(), {.node_name = "node1"}, Log());
  aio::Group following(loop.get_executor(), Log());
  following.spawn("stores", source.follow());
  ASSERT_TRUE(aio::run(loop, source.wait_synced(std::chrono::steady_clock::now() + 1h)));

  const auto known = aio::run(loop, source.find_pod({.ns = "n", .name = "a", .uid = "u"}));
  const auto newest =
      aio::run(loop, source.find_pod({.ns = "n", .name = "a", .uid = "u", .newest = true}));
  following.cancel();
  (void)aio::run(loop, following.join());

  ASSERT_TRUE(known.has_value() && newest.has_value());
  EXPECT_EQ((*known)->resource_version, "5");
  EXPECT_EQ((*newest)->resource_version, "9");
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
