// Lookups and what is said of them, against a server that says exactly what the test wants;
// tests/cluster has the real one.
#include "adapters/kube_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "aio/group.h"
#include "aio/run.h"
#include "base/log.h"
#include "base/test_log.h"
#include "http/scripted_server.h"
#include "kube/fake_api.h"

namespace mnet::adapters {
namespace {

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
