#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/test_log.h"
#include "base/text.h"
#include "base/try.h"
#include "http/http.h"
#include "http/raw_client.h"
#include "http/server_fixture.h"

namespace mnet::http {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;
using namespace std::chrono_literals;

// Answers with `<method> <path> <body>`.
aio::Task<Response> echo(std::shared_ptr<Exchange> exchange) {
  MNET_CO_TRY(auto&& body, co_await exchange->read_body());
  Response response;
  response.body = cat(exchange->method(), " ", exchange->path(), " ", body);
  co_return response;
}

// Answers without looking at the body.
aio::Task<Response> ignore_body(std::shared_ptr<Exchange>) {
  Response response;
  response.body = "ok";
  co_return response;
}

aio::Task<Response> large_answer(std::shared_ptr<Exchange>) {
  Response response;
  response.body.assign(8u << 20, 'x');
  co_return response;
}

std::string post(std::string_view path, std::string_view body) {
  return cat("POST ", path, " HTTP/1.1\r\nHost: dummy\r\nContent-Length: ", body.size(), "\r\n\r\n",
             body);
}

int status_of(const std::string& answer) {
  return answer.size() > 12 ? std::stoi(answer.substr(9, 3)) : 0;
}

std::string body_of(const std::string& answer) {
  const std::size_t at = answer.find("\r\n\r\n");
  return at == std::string::npos ? "" : answer.substr(at + 4);
}

TEST(Server, FramesEveryAnswerExactly) {
  TestServer server(echo);

  const std::string answer = talk(server.path(), post("/cni", "null"));

  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\nDate: "));
  EXPECT_THAT(answer, MatchesRegex(".*Date: [A-Z][a-z][a-z], [0-9][0-9] [A-Z][a-z][a-z] [0-9]+ "
                                   "[0-9:]+ GMT\r\n.*"));
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Length: 14\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_EQ(body_of(answer), "POST /cni null");
}

// Answers as ignore_body() does, and would take another request.
aio::Task<Response> keep(std::shared_ptr<Exchange>) {
  Response response;
  response.body = "ok";
  response.headers = {{"Connection", "keep-alive"}};
  co_return response;
}

std::size_t count_in(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Server, TakesAnotherRequestWhereTheHandlerWishesIt) {
  TestServer server(keep);
  RawClient client(server.path());

  for (const char* body : {"", "null"}) {
    ASSERT_TRUE(client.send(post("/readyz", body)));
    EXPECT_THAT(client.read_until("\r\n\r\nok"), HasSubstr("\r\nConnection: keep-alive\r\n"));
  }
}

TEST(Server, ClosesAConnectionOnWhichMoreCameThanItsRequest) {
  TestServer server(keep);

  const std::string answer = talk(server.path(), post("/readyz", "") + post("/readyz", ""));

  EXPECT_EQ(count_in(answer, "HTTP/1.1 200 OK"), 1u);
  EXPECT_THAT(answer, HasSubstr("\r\nConnection: close\r\n"));
}

TEST(Server, TakesRequestsInEveryFormItMust) {
  TestServer server(echo);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"GET /healthz HTTP/1.0\r\n\r\n", "GET /healthz "},
      {"GET /healthz?verbose=1 HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET /healthz "},
      {"GET http://localhost/healthz HTTP/1.1\r\nHost: x\r\n\r\n", "GET /healthz "},
      {"GET /h%65althz HTTP/1.1\r\nHost:\r\n\r\n", "GET /healthz "},
      {"POST /cni HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nnull\r\n0\r\n\r\n",
       "POST /cni null"},
      {"FOO /cni HTTP/1.1\r\nHost: a\r\n\r\n", "FOO /cni "},
      {"GET //cni HTTP/1.1\r\nHost: a\r\n\r\n", "GET //cni "},
  };

  for (const auto& [request, body] : cases) {
    const std::string answer = talk(server.path(), request);
    EXPECT_EQ(status_of(answer), 200) << request;
    EXPECT_EQ(body_of(answer), body) << request;
  }
}

TEST(Server, AsksForTheBodyThatAClientHoldsBack) {
  TestServer server(echo);
  RawClient client(server.path());

  client.send("POST /cni HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  const std::string interim = client.read_until("\r\n\r\n");
  client.send("null");

  EXPECT_EQ(interim, "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(body_of(client.read_all()), "POST /cni null");
}

TEST(Server, RefusesMalformedRequestsWithoutAskingTheHandler) {
  constexpr const char* kTwoLengths =
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
      "0\r\n\r\n";
  std::atomic<int> calls = 0;
  TestServer server([&calls](std::shared_ptr<Exchange> exchange) {
    ++calls;
    return ignore_body(std::move(exchange));
  });

  for (const char* request : {
           "hello\r\n\r\n",
           "GET / HTTP/1.1\nHost: a\n\n",
           "GET /healthz HTTP/1.1\r\n\r\n",
           "GET nowhere HTTP/1.1\r\nHost: a\r\n\r\n",
           "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
           kTwoLengths,
       }) {
    const std::string answer = talk(server.path(), request);
    EXPECT_EQ(status_of(answer), 400) << request;
    EXPECT_THAT(answer, HasSubstr("Connection: close")) << request;
    EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; charset=utf-8")) << request;
    EXPECT_THAT(answer, EndsWith("\n")) << request;
  }
  EXPECT_EQ(calls, 0);
}

TEST(Server, RefusesAHeaderBeyondItsLimit) {
  TestServer server(ignore_body);
  const std::string start = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
  const std::string end = "\r\n\r\n";
  const std::size_t room = (64u << 10) - start.size() - end.size();

  EXPECT_EQ(status_of(talk(server.path(), start + std::string(room, 'x') + end)), 200);
  EXPECT_EQ(status_of(talk(server.path(), start + std::string(room + 1, 'x') + end)), 431);
  EXPECT_EQ(status_of(talk(server.path(), start + std::string(100u << 10, 'x'))), 431);
}

TEST(Server, RefusesALargeBodyFromItsAnnouncedLength) {
  TestServer server(echo);
  RawClient client(server.path());
  client.send("POST /cni HTTP/1.1\r\nHost: a\r\nContent-Length: 20971520\r\n\r\n");

  // Not a byte of the body was sent.
  const std::string answer = client.read_until("\r\n\r\n");

  EXPECT_EQ(status_of(answer), 413);
}

TEST(Server, LetsTheClientReadTheAnswerToABodyThatIsTooLarge) {
  TestServer server(echo);
  const std::string piece(1u << 20, 'x');

  RawClient announced(server.path());
  announced.send("POST /cni HTTP/1.1\r\nHost: a\r\nContent-Length: 20971520\r\n\r\n");
  for (int i = 0; i < 20 && announced.send(piece); ++i) continue;
  const std::string first = announced.read_all();

  RawClient chunked(server.path());
  chunked.send("POST /cni HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 20 && chunked.send(cat("100000\r\n", piece, "\r\n")); ++i) continue;
  const std::string second = chunked.read_all();

  EXPECT_FALSE(announced.was_reset());
  EXPECT_FALSE(chunked.was_reset());
  EXPECT_EQ(status_of(first), 413);
  EXPECT_EQ(body_of(first), "request body too large\n");
  EXPECT_EQ(status_of(second), 413);
  EXPECT_EQ(body_of(second), "request body too large\n");
}

TEST(Server, AnswersBeforeASmallUnwantedBodyWithoutResettingTheClient) {
  TestServer server(ignore_body);
  RawClient client(server.path());
  client.send(post("/healthz", std::string(500u << 10, 'x')));

  const std::string answer = client.read_all();

  EXPECT_EQ(status_of(answer), 200);
  EXPECT_FALSE(client.was_reset());
}

TEST(Server, ClosesSilentlyWhenTheHeaderDoesNotCome) {
  Limits limits;
  limits.header_time = 50ms;
  TestServer server(ignore_body, limits);

  RawClient silent(server.path());
  RawClient half(server.path());
  half.send("GET /healthz HT");

  EXPECT_EQ(silent.read_all(), "");
  EXPECT_EQ(half.read_all(), "");
  EXPECT_EQ(status_of(talk(server.path(), "GET / HTTP/1.0\r\n\r\n")), 200);
}

TEST(Server, GivesUpOnABodyThatStops) {
  Limits limits;
  limits.body_progress = 50ms;
  TestServer server(echo, limits);
  RawClient client(server.path());
  client.send("POST /cni HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nn");

  const std::string answer = client.read_all();

  EXPECT_EQ(status_of(answer), 408);
}

TEST(Server, GivesUpOnABodyThatNeverEnds) {
  Limits limits;
  limits.body_time = 100ms;
  limits.body_progress = 10s;
  TestServer server(echo, limits);
  RawClient client(server.path());
  client.send("POST /cni HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");

  // Bytes keep coming, slower than the limit allows.
  std::thread dripping([&] {
    while (client.send("x")) std::this_thread::sleep_for(5ms);
  });
  const std::string answer = client.read_until("\r\n\r\n");
  dripping.join();

  EXPECT_EQ(status_of(answer), 408);
}

TEST(Server, GivesUpOnAClientThatDoesNotReadItsAnswer) {
  Limits limits;
  limits.write_time = 50ms;
  std::atomic<bool> sent = false;
  TestServer server(
      [&sent](std::shared_ptr<Exchange> exchange) {
        exchange->on_sent([&sent] { sent = true; });
        return large_answer(std::move(exchange));
      },
      limits);
  RawClient client(server.path());
  client.send("GET / HTTP/1.0\r\n\r\n");
  client.read_until("\r\n\r\n");

  // The connection ends although the client neither reads nor closes.
  while (server.open() != 0) std::this_thread::yield();

  EXPECT_FALSE(sent);
}

TEST(Server, ServesAClientThatHasHalfClosed) {
  TestServer server(echo);
  RawClient client(server.path());
  client.send(post("/cni", "null"));
  client.end_sending();

  EXPECT_EQ(body_of(client.read_all()), "POST /cni null");
}

TEST(Server, AnswersABodyThatEndsTooEarly) {
  TestServer server(echo);
  RawClient client(server.path());
  client.send("POST /cni HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nnull");
  client.end_sending();

  EXPECT_EQ(status_of(client.read_all()), 400);
}

TEST(Server, SendsTheHandlersOwnAnswerToABodyThatItCouldNotRead) {
  TestServer server([](std::shared_ptr<Exchange> exchange) -> aio::Task<Response> {
    const auto body = co_await exchange->read_body();
    co_return text_response(body ? 200 : 418, "own");
  });
  RawClient client(server.path());
  client.send("POST /cni HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nnull");
  client.end_sending();

  const std::string answer = client.read_all();

  EXPECT_EQ(status_of(answer), 418);
  EXPECT_EQ(body_of(answer), "own\n");
}

TEST(Server, SendsALargeAnswerWhole) {
  std::atomic<bool> sent = false;
  TestServer server([&sent](std::shared_ptr<Exchange> exchange) {
    exchange->on_sent([&sent] { sent = true; });
    return large_answer(std::move(exchange));
  });

  const std::string answer = talk(server.path(), "GET / HTTP/1.0\r\n\r\n");

  EXPECT_THAT(answer, HasSubstr("Content-Length: 8388608\r\n"));
  EXPECT_EQ(body_of(answer), std::string(8u << 20, 'x'));
  EXPECT_TRUE(sent);
}

TEST(Server, SendsNoBodyToHead) {
  TestServer server(ignore_body);

  const std::string answer = talk(server.path(), "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");

  EXPECT_THAT(answer, HasSubstr("Content-Length: 2\r\n"));
  EXPECT_EQ(body_of(answer), "");
}

TEST(Server, AnswersForAHandlerThatFailsAndGoesOn) {
  TestServer server([](std::shared_ptr<Exchange> exchange) -> aio::Task<Response> {
    if (exchange->path() == "/throw") throw std::runtime_error("defect");
    co_return Error(Errc::kBug, "defect");
  });

  EXPECT_EQ(status_of(talk(server.path(), "GET /throw HTTP/1.0\r\n\r\n")), 500);
  EXPECT_EQ(status_of(talk(server.path(), "GET /fail HTTP/1.0\r\n\r\n")), 500);
}

TEST(Server, KnowsItsPeer) {
  TestServer server([](std::shared_ptr<Exchange> exchange) -> aio::Task<Response> {
    Response response;
    response.body = cat(exchange->peer_uid().value_or(4711), " ", exchange->peer());
    co_return response;
  });

  EXPECT_EQ(body_of(talk(server.path(), "GET / HTTP/1.0\r\n\r\n")),
            cat(::getuid(), " pid ", ::getpid(), " uid ", ::getuid()));
}

// A handler that holds its exchange until the test lets it go.
class Held {
 public:
  Handler handler() {
    return [this](std::shared_ptr<Exchange> exchange) { return hold(std::move(exchange)); };
  }
  // Valid until it is released.
  Exchange* wait_for_arrival() { return arrived_.get_future().get(); }
  void wait_until_gone() { gone_.get_future().wait(); }
  bool is_gone_within(std::chrono::milliseconds time) {
    return gone_.get_future().wait_for(time) == std::future_status::ready;
  }
  void release(LoopThread& loop) {
    loop.on_loop([this] { released_->cancel(); });
  }
  bool was_cancelled() const { return cancelled_; }

 private:
  aio::Task<Response> hold(std::shared_ptr<Exchange> exchange) {
    const auto executor = co_await aio::asio::this_coro::executor;
    released_.emplace(executor, std::chrono::steady_clock::time_point::max());
    exchange->on_gone([this] { gone_.set_value(); });
    arrived_.set_value(exchange.get());
    co_await released_->async_wait(aio::kAsValue);
    released_.reset();
    const auto state = co_await aio::asio::this_coro::cancellation_state;
    cancelled_ = state.cancelled() != aio::asio::cancellation_type::none;
    co_return Response{};
  }

  std::promise<Exchange*> arrived_;
  std::promise<void> gone_;
  std::optional<aio::asio::steady_timer> released_;
  std::atomic<bool> cancelled_ = false;
};

TEST(Server, TellsTheHandlerThatTheClientHasLeft) {
  Held held;
  TestServer server(held.handler());
  RawClient client(server.path());
  client.send("GET / HTTP/1.0\r\n\r\n");
  const Exchange* exchange = held.wait_for_arrival();
  EXPECT_FALSE(exchange->client_gone());

  client.close();

  held.wait_until_gone();
  EXPECT_TRUE(exchange->client_gone());
  held.release(server.loop());
}

TEST(Server, DoesNotTakeAHalfCloseForLeaving) {
  Held held;
  TestServer server(held.handler());
  RawClient client(server.path());
  client.send("GET / HTTP/1.0\r\n\r\n");
  const Exchange* exchange = held.wait_for_arrival();

  client.end_sending();

  EXPECT_FALSE(held.is_gone_within(50ms));
  EXPECT_FALSE(exchange->client_gone());
  held.release(server.loop());
  EXPECT_EQ(status_of(client.read_all()), 200);
}

TEST(Server, NoticesAClientThatLeftBeforeAnybodyAsked) {
  Held held;
  std::promise<void> left;
  TestServer server([&](std::shared_ptr<Exchange> exchange) {
    left.get_future().wait();
    return held.handler()(std::move(exchange));
  });
  {
    RawClient client(server.path());
    client.send("GET / HTTP/1.0\r\n\r\n");
  }
  left.set_value();

  held.wait_until_gone();

  held.release(server.loop());
}

TEST(Server, LeavesConnectionsBeyondItsCapInTheBacklog) {
  Limits limits;
  limits.connections = 2;
  limits.header_time = 100ms;
  TestServer server(ignore_body, limits);
  std::vector<RawClient> silent;
  for (int i = 0; i < 5; ++i) silent.emplace_back(server.path());

  // Served once two of the silent connections before it have been closed.
  EXPECT_EQ(status_of(talk(server.path(), "GET / HTTP/1.0\r\n\r\n")), 200);
  EXPECT_LE(server.open(), 2u);
}

TEST(Server, ClosesConnectionsThatSayNothingWhenOthersWait) {
  Limits limits;
  limits.connections = 2;
  limits.header_time = std::chrono::hours(1);
  limits.crowded_time = 10ms;
  TestServer server(ignore_body, limits);
  std::vector<RawClient> silent;
  for (int i = 0; i < 6; ++i) silent.emplace_back(server.path());

  EXPECT_EQ(status_of(talk(server.path(), "GET / HTTP/1.0\r\n\r\n")), 200);
}

// Anyone on a node may ask for metrics, as often as he likes.
TEST(Server, AcceptsSoManyConnectionsInASecond) {
  Limits limits;
  limits.connections = 4;
  limits.per_second = 20;
  TestServer server(ignore_body, limits);
  const auto begun = std::chrono::steady_clock::now();

  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(status_of(talk(server.path(), "GET / HTTP/1.1\r\nHost: a\r\n\r\n")), 200);
  }

  EXPECT_GE(std::chrono::steady_clock::now() - begun, 290ms);  // six of them had to wait
}

TEST(Server, ServesBesideTwoThousandIdleConnections) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur < 5000) GTEST_SKIP() << "needs 5000 descriptors, may have " << files.rlim_cur;
  Limits limits;
  limits.header_time = 300ms;
  TestServer server(ignore_body, limits);
  std::vector<RawClient> idle;
  for (int i = 0; i < 2000; ++i) idle.emplace_back(server.path());

  EXPECT_LE(server.open(), 1024u);
  EXPECT_EQ(status_of(talk(server.path(), "GET / HTTP/1.0\r\n\r\n")), 200);
}

TEST(Server, ServesWhatWaitsInTheBacklogWhenItStopsAccepting) {
  Limits limits;
  TestServer server(echo, limits);
  std::vector<RawClient> clients;
  server.loop().on_loop([&] {
    // The loop stands still here, so none of these is accepted yet.
    for (int i = 0; i < 3; ++i) {
      clients.emplace_back(server.path());
      clients.back().send("GET /late HTTP/1.0\r\n\r\n");
    }
    server.server().stop_accepting();
  });

  for (RawClient& client : clients) EXPECT_EQ(body_of(client.read_all()), "GET /late ");
  EXPECT_FALSE(RawClient(server.path()).connected());
}

TEST(Server, ClosesTheSocketsThatAnotherReplaces) {
  TestServer server(echo);
  sys::TestDir dir;
  server.loop().on_loop([&] { server.server().serve_instead(listen_unix(dir / "new")); });

  EXPECT_EQ(body_of(talk(dir / "new", "GET /x HTTP/1.0\r\n\r\n")), "GET /x ");
  EXPECT_FALSE(RawClient(server.path()).connected());
}

TEST(Server, ClosesIdleConnectionsSoonAfterItStopsAccepting) {
  Limits limits;
  limits.drain_time = 20ms;
  TestServer server(echo, limits);
  RawClient silent(server.path());
  while (server.open() != 1) std::this_thread::yield();

  server.loop().on_loop([&] { server.server().stop_accepting(); });

  EXPECT_EQ(silent.read_all(), "");
}

TEST(Server, DrainsUntilTheLastHandlerHasAnswered) {
  Held held;
  TestServer server(held.handler());
  RawClient client(server.path());
  client.send("GET / HTTP/1.0\r\n\r\n");
  (void)held.wait_for_arrival();
  server.loop().on_loop([&] { server.server().stop_accepting(); });

  auto drained = std::async(std::launch::async, [&] {
    return server.loop().run(
        server.server().drain(std::chrono::steady_clock::now() + std::chrono::seconds(20)));
  });
  held.release(server.loop());

  EXPECT_TRUE(drained.get().has_value());
  EXPECT_EQ(status_of(client.read_all()), 200);
}

TEST(Server, CancelsHandlersThatAreLeftAtTheDeadline) {
  Held held;
  TestServer server(held.handler());
  RawClient client(server.path());
  client.send("GET / HTTP/1.0\r\n\r\n");
  (void)held.wait_for_arrival();

  const auto now = std::chrono::steady_clock::now();
  const auto drained = server.loop().run(server.server().drain(now));
  const auto ended = server.loop().run(server.server().drain(now + 20s));

  ASSERT_FALSE(drained.has_value());
  EXPECT_EQ(drained.error().code(), Errc::kTimeout);
  EXPECT_TRUE(ended.has_value());
  EXPECT_TRUE(held.was_cancelled());
  EXPECT_EQ(client.read_all(), "");
}

TEST(Server, SurvivesRunningOutOfDescriptors) {
  const auto lines = std::make_shared<TestLog>();
  const Log log({lines}, LogLevel::kError);
  TestServer server(ignore_body, {}, log);
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  std::optional<RawClient> late;
  // The sanitizer opens a pipe when it meets a virtual call for the first time.
  log.error("begin");
  ASSERT_THAT(lines->text(), HasSubstr("begin"));

  server.loop().on_loop([&] {
    // The loop stands still here: it meets a client and the limit at once.
    late.emplace(server.path());
    rlimit none = before;
    none.rlim_cur = 3;
    ::setrlimit(RLIMIT_NOFILE, &none);
  });
  while (lines->text().ends_with("begin\n")) std::this_thread::yield();
  ::setrlimit(RLIMIT_NOFILE, &before);
  late->send("GET / HTTP/1.0\r\n\r\n");

  EXPECT_EQ(status_of(late->read_all()), 200);
  EXPECT_THAT(lines->text(), HasSubstr("too many open files"));
}

}  // namespace
}  // namespace mnet::http
