// The order of statuses, against a server that says exactly what the test wants; tests/cluster has
// the real one.
#include "adapters/kube_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>

#include "adapters/kube_pod_fixture.h"
#include "aio/fake_timer.h"
#include "aio/group.h"
#include "aio/run.h"
#include "aio/task.h"
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

// The first status is refused for a second, so that a second one is sent before it is repeated.
class SlowToTakeTheFirst {
 public:
  void answer(Peer& peer, const RawRequest& request) {
    const std::lock_guard lock(mutex_);
    if (++requests_ == 1) {
      peer.answer(503, R"({"kind":"Status","code":503,"details":{"retryAfterSeconds":1}})");
      return;
    }
    written_ = request.body;
    peer.answer(200, kPlainPod);
  }
  std::string written() const {
    const std::lock_guard lock(mutex_);
    return written_;
  }
  int requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  mutable std::mutex mutex_;
  int requests_ = 0;
  std::string written_;
};

TEST(KubeSource, AnEarlierStatusNeverComesAfterANewerOne) {
  aio::asio::io_context loop;  // outlives the connections
  SlowToTakeTheFirst script;
  const kube::FakeApi server(
      [&script](Peer& peer, const RawRequest& request) { script.answer(peer, request); });
  KubeSource source(loop.get_executor(), server.client(), {.follows = false}, Log());
  aio::Group adds(loop.get_executor(), Log());

  adds.spawn("earlier", source.write_status(plain_pod(), "[\"earlier\"]"));
  ASSERT_TRUE(kube::drive(loop, [&script] { return script.requests() == 1; }));
  adds.spawn("newer", source.write_status(plain_pod(), "[\"newer\"]"));
  ASSERT_TRUE(aio::run(loop, adds.join()).has_value());
  ASSERT_TRUE(aio::run(loop, source.flush(aio::kNoDeadline)).has_value());

  EXPECT_THAT(script.written(), HasSubstr("newer"));
}

// It may wait for minutes.
TEST(KubeSource, ANewerStatusDoesNotWaitForAnEarlierOneThatCannotBeWritten) {
  aio::asio::io_context loop;  // outlives the connections
  SlowToTakeTheFirst script;
  const kube::FakeApi server(
      [&script](Peer& peer, const RawRequest& request) { script.answer(peer, request); });
  aio::FakeTimer timer(0);  // the earlier one waits until it is outdated
  KubeSource source(loop.get_executor(), server.client(), {.follows = false, .timer = &timer},
                    Log());
  aio::Group adds(loop.get_executor(), Log());

  adds.spawn("earlier", source.write_status(plain_pod(), "[\"earlier\"]"));
  ASSERT_TRUE(kube::drive(loop, [&timer] { return timer.waits().size() == 1; }));
  adds.spawn("newer", source.write_status(plain_pod(), "[\"newer\"]"));
  ASSERT_TRUE(aio::run(loop, adds.join()).has_value());
  ASSERT_TRUE(aio::run(loop, source.flush(aio::kNoDeadline)).has_value());

  EXPECT_THAT(script.written(), HasSubstr("newer"));
  EXPECT_EQ(script.requests(), 2);
}

// 02, 6.2 step 4: a DEL that no record helps.
TEST(KubeSource, ALookupThatIsMadeOnceIsNotRepeated) {
  aio::asio::io_context loop;  // outlives the connections
  SlowToTakeTheFirst script;
  const kube::FakeApi server(
      [&script](Peer& peer, const RawRequest& request) { script.answer(peer, request); });
  KubeSource source(loop.get_executor(), server.client(), {.follows = false}, Log());

  auto pod = aio::run(loop, source.find_pod({.ns = "n", .name = "a", .uid = "u", .once = true}));

  EXPECT_FALSE(pod.has_value());
  EXPECT_EQ(script.requests(), 1);
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
