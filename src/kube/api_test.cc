#include "kube/api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "aio/event.h"
#include "aio/group.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "http/scripted_server.h"
#include "http/test_tls.h"
#include "kube/config.h"
#include "kube/fake_api.h"
#include "kube/gate.h"
#include "kube/reply.h"
#include "sys/test_dir.h"

namespace mnet::kube {
namespace {

using namespace std::chrono_literals;
using http::Peer;
using http::RawRequest;
using testing::ElementsAre;
using testing::Pair;

aio::Deadline soon() { return std::chrono::steady_clock::now() + 20s; }

TEST(Api, TellsWhoItIsAndWhatItWants) {
  aio::asio::io_context loop;  // outlives the connections
  const FakeApi server([](Peer& peer, const RawRequest& request) {
    peer.answer(200, cat(request.header("User-Agent"), "|", request.header("Accept"), "|",
                         request.header("Content-Type")));
  });
  const auto api = server.client({.user_agent = "multus-daemon/1"});

  const auto reply = aio::run(loop, api->call({.method = "PATCH",
                                               .path = "/x",
                                               .body = "{}",
                                               .content_type = "application/merge-patch+json"},
                                              soon()));

  ASSERT_TRUE(reply.has_value()) << reply.error().text();
  EXPECT_EQ(reply->body, "multus-daemon/1|application/json|application/merge-patch+json");
}

TEST(Api, CountsItsRequestsByVerbAndAnswer) {
  aio::asio::io_context loop;  // outlives the connections
  const FakeApi server([](Peer& peer, const RawRequest& request) {
    peer.answer(request.method() == "PATCH" ? 409 : 200, "");
  });
  const auto api = server.client();
  Config nowhere{.server = "http://127.0.0.1:1"};
  const auto unreachable = *Api::make(std::move(nowhere), {}, Log());

  for (int i = 0; i < 2; ++i) {
    (void)aio::run(loop, api->call({.path = "/api/v1/namespaces/a/pods/b"}, soon()));
  }
  (void)aio::run(loop, api->call({.method = "PATCH", .path = "/api/v1/x", .body = "{}"}, soon()));
  (void)aio::run(loop, unreachable->call({.path = "/api/v1/pods"}, soon()));

  EXPECT_THAT(api->request_counts(),
              ElementsAre(Pair(Pair("get", 200), 2), Pair(Pair("patch", 409), 1)));
  EXPECT_THAT(unreachable->request_counts(), ElementsAre(Pair(Pair("list", 0), 1)));
}

TEST(Api, CallsRequestsAsTheServerDoes) {
  EXPECT_EQ(verb_of("GET", "/api/v1/pods?limit=500"), "list");
  EXPECT_EQ(verb_of("GET", "/api/v1/namespaces/a/pods"), "list");
  EXPECT_EQ(verb_of("GET", "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions"), "list");
  EXPECT_EQ(verb_of("GET", "/api/v1/pods?watch=true&x=y"), "watch");
  EXPECT_EQ(verb_of("GET", "/api/v1/namespaces/watch=true/pods/x"), "get");
  EXPECT_EQ(verb_of("GET", "/api/v1/namespaces/a"), "get");
  EXPECT_EQ(verb_of("GET", "/api/v1/namespaces"), "list");
  EXPECT_EQ(verb_of("GET", "/version"), "get");
  EXPECT_EQ(verb_of("POST", "/api/v1/namespaces/a/events"), "create");
  EXPECT_EQ(verb_of("PUT", "/api/v1/namespaces/a/pods/b/status"), "update");
  EXPECT_EQ(verb_of("PATCH", "/api/v1/namespaces/a/pods/b/status"), "patch");
  EXPECT_EQ(verb_of("DELETE", "/api/v1/namespaces/a/pods/b"), "delete");
  EXPECT_EQ(verb_of("OPTIONS", "/"), "other");
}

// 03, 12, row 109: the old token is refused, the new one lies in the file.
TEST(Api, ReadsItsTokenAnewWhenRefusedAndAsksOnceMore) {
  aio::asio::io_context loop;  // outlives the connections
  const sys::TestDir dir;
  const FakeApi server([](Peer& peer, const RawRequest& request) {
    const bool is_known = request.header("Authorization") == "Bearer new";
    peer.answer(is_known ? 200 : 401, "");
  });
  Config config{.server = server.url()};
  config.token.file = dir.write("token", "old");
  const auto api = *Api::make(config, {}, Log());

  const auto refused = aio::run(loop, api->call({.path = "/a"}, soon()));
  dir.write("token", "new");
  const auto accepted = aio::run(loop, api->call({.path = "/b"}, soon()));

  ASSERT_TRUE(refused && accepted);
  EXPECT_EQ(refused->status, 401);
  EXPECT_EQ(accepted->status, 200);
  EXPECT_THAT(server.asked(), ElementsAre("GET /a", "GET /b", "GET /b"));
}

// 03, 12, row 110.
TEST(Api, ReadsItsAuthorityAnewWhenItDoesNotTrustTheServer) {
  aio::asio::io_context loop;  // outlives the connections
  const sys::TestDir dir;
  const http::TestAuthority before, after;
  const http::ScriptedServer server(
      [](Peer& peer) {
        while (peer.read_request()) peer.answer(200, "");
      },
      http::ScriptedServer::Tls{after.sign("s", "IP:127.0.0.1")});
  Config config{.server = cat("https://127.0.0.1:", server.port())};
  config.ca.file = dir.write("ca.crt", before.pem());
  const auto api = *Api::make(config, {}, Log());

  const auto distrusted = aio::run(loop, api->call({.path = "/"}, soon()));
  dir.write("ca.crt", after.pem());
  const auto trusted = aio::run(loop, api->call({.path = "/"}, soon()));

  ASSERT_FALSE(distrusted.has_value());
  EXPECT_EQ(distrusted.error().code(), Errc::kDenied);
  EXPECT_TRUE(trusted.has_value());
}

TEST(Api, RepeatsWhatMayPass) {
  aio::asio::io_context loop;  // outlives the connections
  std::atomic<int> requests = 0;
  const FakeApi server([&](Peer& peer, const RawRequest&) {
    const int number = ++requests;
    if (number == 3) {
      peer.hang_up();
      return;
    }
    peer.answer(number == 1 ? 503 : number == 2 ? 500 : 200, "");
  });
  const auto api = server.client();

  const auto reply = aio::run(loop, api->call_patiently({.path = "/"}, {.first_pause = 1ms}));

  ASSERT_TRUE(reply.has_value()) << reply.error().text();
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(requests, 4);
}

TEST(Api, DoesNotRepeatWhatIsFinal) {
  aio::asio::io_context loop;  // outlives the connections
  const FakeApi server([](Peer& peer, const RawRequest&) { peer.answer(404, "{}"); });
  const auto api = server.client();

  const auto reply = aio::run(loop, api->call_patiently({.path = "/"}, {.first_pause = 1ms}));

  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->status, 404);
  EXPECT_EQ(server.asked().size(), 1u);
}

TEST(Api, TakesARefusalForFinalOnlyAfterAWhile) {
  aio::asio::io_context loop;  // outlives the connections
  std::atomic<int> requests = 0;
  const FakeApi server(
      [&](Peer& peer, const RawRequest&) { peer.answer(++requests < 3 ? 403 : 200, "{}"); });
  const auto api = server.client();

  const auto patient = aio::run(loop, api->call_patiently({.path = "/"}, {.first_pause = 1ms}));
  requests = 0;
  const auto hasty =
      aio::run(loop, api->call_patiently({.path = "/"}, {.first_pause = 1ms, .denial = 0ms}));

  ASSERT_TRUE(patient && hasty);
  EXPECT_EQ(patient->status, 200);
  EXPECT_EQ(hasty->status, 403);
}

TEST(Api, GivesUpInsteadOfWaitingBeyondItsTime) {
  aio::asio::io_context loop;  // outlives the connections
  const FakeApi server(
      [](Peer& peer, const RawRequest&) { peer.answer(429, "{}", "Retry-After: 100\r\n"); });
  const auto api = server.client();

  const auto reply = aio::run(loop, api->call_patiently({.path = "/"}, {.total = 2s}));

  ASSERT_TRUE(reply.has_value());
  EXPECT_EQ(reply->status, 429);
  EXPECT_EQ(reply->retry_after, 100s);
  EXPECT_EQ(server.asked().size(), 1u);
}

aio::Task<void> expect_answer(Api* api, Call call) {
  auto reply = co_await api->call(std::move(call), soon());
  EXPECT_TRUE(reply.has_value()) << reply.error().text();
  co_return Result<void>();
}

// Else those behind a slow server would be sent, given up and sent again. The sleep is that server:
// longer than the second request's own time.
TEST(Api, DoesNotCountTheTimeInLine) {
  aio::asio::io_context loop;  // outlives the connections
  const FakeApi server([](Peer& peer, const RawRequest& request) {
    if (request.target() == "/slow") std::this_thread::sleep_for(3s);
    peer.answer(200, "{}");
  });
  const auto api = server.client({.requests_at_once = 1});
  aio::Group calls(loop.get_executor(), Log());

  calls.spawn("first", expect_answer(api.get(), {.path = "/slow"}));
  calls.spawn("second", expect_answer(api.get(), {.path = "/behind", .time = 2s}));

  EXPECT_TRUE(aio::run(loop, calls.join()).has_value());
  EXPECT_THAT(server.asked(), ElementsAre("GET /slow", "GET /behind"));
}

TEST(Api, HoldsEachCallToItsDeadlineAndToItsTime) {
  aio::asio::io_context loop;  // outlives the connections
  const FakeApi server([](Peer& peer, const RawRequest&) { peer.wait_for_close(); });
  const auto api = server.client();

  const auto late =
      aio::run(loop, api->call({.path = "/"}, std::chrono::steady_clock::now() + 50ms));
  const auto slow = aio::run(loop, api->call({.path = "/", .time = 50ms}, soon()));

  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code(), Errc::kTimeout);
  ASSERT_FALSE(slow.has_value());
  EXPECT_EQ(slow.error().code(), Errc::kTimeout);
}

TEST(Reply, IsAnErrorOfTheKindThatItsStatusSays) {
  const auto code = [](int status) { return Reply{.status = status}.error().code(); };

  EXPECT_EQ(code(404), Errc::kNotFound);
  EXPECT_EQ(code(409), Errc::kConflict);
  EXPECT_EQ(code(401), Errc::kDenied);
  EXPECT_EQ(code(403), Errc::kDenied);
  EXPECT_EQ(code(422), Errc::kInvalid);
  EXPECT_EQ(code(429), Errc::kUnavailable);
  EXPECT_EQ(code(503), Errc::kUnavailable);
  EXPECT_EQ(code(418), Errc::kProtocol);
}

TEST(Reply, ReadsTheServersOwnWords) {
  const Status status = parse_status(
      429, R"({"kind":"Status","code":429,"reason":"TooManyRequests","message":"slow down",)"
           R"("details":{"retryAfterSeconds":3}})");

  EXPECT_EQ(status.reason, "TooManyRequests");
  EXPECT_EQ(error_of(status).text(), "slow down");
  EXPECT_EQ(status.retry_after, 3s);
  EXPECT_EQ(parse_status(502, "<html>bad gateway").message, "<html>bad gateway");
  EXPECT_TRUE(is_gone(parse_status(500, R"({"reason":"Expired"})")));
  EXPECT_FALSE(is_gone(parse_status(500, R"({"code":"x"})")));
}

TEST(Reply, ReadsTheDateThatServersSend) {
  const auto date = [](std::string text) { return parse_date({{"Date", std::move(text)}}); };

  EXPECT_EQ(date("Sun, 06 Nov 1994 08:49:37 GMT"), std::chrono::sys_seconds(784111777s));
  EXPECT_EQ(date("Sunday, 06-Nov-94 08:49:37 GMT"), std::nullopt);
  EXPECT_EQ(date("Sun, 06 Nov 1994 08:49:37 GMT+1"), std::nullopt);
  EXPECT_EQ(date(""), std::nullopt);
  EXPECT_TRUE(date("Fri, 31 Dec 9999 23:59:59 GMT"));
  EXPECT_EQ(parse_date({}), std::nullopt);
}

TEST(Reply, TakesOnlySecondsForRetryAfter) {
  const auto parsed = [](std::string text) {
    return parse_retry_after({{"Retry-After", std::move(text)}});
  };

  EXPECT_EQ(parsed("7"), 7s);
  EXPECT_EQ(parsed("999999999"), 300s);
  EXPECT_EQ(parsed("-1"), std::nullopt);
  EXPECT_EQ(parsed("Wed, 21 Oct 2026 07:28:00 GMT"), std::nullopt);
  EXPECT_EQ(parse_retry_after({}), std::nullopt);
}

TEST(QueryValue, EncodesWhatMeansSomethingInAQuery) {
  EXPECT_EQ(query_value("spec.nodeName=a b&c/d"), "spec.nodeName%3Da%20b%26c%2Fd");
}

// Notes who got in, in order.
class GateTest : public testing::Test {
 protected:
  void enter(std::string name, Priority priority, std::string share = {}) {
    group_.spawn(name, pass(name, priority, std::move(share)));
  }
  aio::Task<void> pass(std::string name, Priority priority, std::string share) {
    MNET_CO_TRY([[maybe_unused]] const auto& slot,
                co_await gate_.enter(priority, std::move(share), aio::kNoDeadline));
    entered_.push_back(name);
    co_return co_await leave_.wait();
  }
  void let_all_go() {
    leave_.notify_all();
    loop_.restart();
    loop_.poll();
  }
  void TearDown() override {
    group_.cancel();
    EXPECT_TRUE(aio::run(loop_, group_.join()).has_value());
  }

  aio::asio::io_context loop_;
  Gate gate_{2};
  aio::Notifier leave_;
  std::vector<std::string> entered_;
  aio::Group group_{loop_.get_executor(), Log()};
};

TEST_F(GateTest, LetsSoManyInAndNoMore) {
  for (const char* name : {"a", "b", "c"}) enter(name, Priority::kUrgent);
  loop_.poll();
  EXPECT_THAT(entered_, ElementsAre("a", "b"));
  EXPECT_EQ(gate_.waiting(), 1u);

  let_all_go();

  EXPECT_THAT(entered_, ElementsAre("a", "b", "c"));
}

TEST_F(GateTest, LetsUrgentOnesOvertake) {
  for (const char* name : {"a", "b"}) enter(name, Priority::kUrgent);
  enter("event", Priority::kBackground);
  enter("status", Priority::kUrgent);
  loop_.poll();

  let_all_go();

  EXPECT_THAT(entered_, ElementsAre("a", "b", "status", "event"));
}

// How many definitions are looked for is a pod author's choice.
TEST_F(GateTest, LetsAStatusOvertakeLookupsAndLookupsOvertakeEvents) {
  for (const char* name : {"a", "b"}) enter(name, Priority::kUrgent);
  enter("event", Priority::kBackground);
  enter("lookup", Priority::kLookup);
  enter("status", Priority::kUrgent);
  loop_.poll();

  let_all_go();
  EXPECT_THAT(entered_, ElementsAre("a", "b", "status", "lookup"));
  let_all_go();

  EXPECT_THAT(entered_, ElementsAre("a", "b", "status", "lookup", "event"));
}

TEST_F(GateTest, KeepsLookupsFromTakingAllSlots) {
  for (const char* name : {"lookup 1", "lookup 2"}) enter(name, Priority::kLookup);
  enter("status", Priority::kUrgent);
  loop_.poll();

  EXPECT_THAT(entered_, ElementsAre("lookup 1", "status"));
}

// A pod may name 256 claims, and a namespace may have any number of such pods.
TEST_F(GateTest, LetsTheNamespaceGoFirstThatWaitedForItsTurnLongest) {
  for (const char* name : {"many 1", "many 2", "many 3"}) enter(name, Priority::kLookup, "many");
  enter("few", Priority::kLookup, "few");
  loop_.poll();

  let_all_go();
  EXPECT_THAT(entered_, ElementsAre("many 1", "few"));
  let_all_go();
  EXPECT_THAT(entered_, ElementsAre("many 1", "few", "many 2"));
}

TEST_F(GateTest, KeepsSlotsFreeForUrgentOnes) {
  for (const char* name : {"event 1", "event 2"}) enter(name, Priority::kBackground);
  enter("status", Priority::kUrgent);
  loop_.poll();

  EXPECT_THAT(entered_, ElementsAre("event 1", "status"));
}

}  // namespace
}  // namespace mnet::kube
