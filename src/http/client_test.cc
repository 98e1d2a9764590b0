#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "http/http.h"
#include "http/server_fixture.h"
#include "sys/fd.h"
#include "sys/test_dir.h"

namespace mnet::http {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

aio::Deadline soon() { return std::chrono::steady_clock::now() + 20s; }

// Accepts one connection, reads the head of its request, sends `answer` in pieces of `step`.
class OneAnswer {
 public:
  OneAnswer(std::string answer, std::size_t step)
      : listener_(listen_unix(dir_ / "s")),
        thread_([this, answer, step] { serve(answer, step); }) {}
  ~OneAnswer() { thread_.join(); }
  std::string path() const { return dir_ / "s"; }

 private:
  void serve(const std::string& answer, std::size_t step) {
    pollfd waiting{.fd = listener_.get(), .events = POLLIN, .revents = 0};
    ::poll(&waiting, 1, -1);
    sys::UniqueFd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    std::string request;
    char byte = 0;
    while (!request.ends_with("\r\n\r\n") && ::recv(peer.get(), &byte, 1, 0) == 1) request += byte;
    for (std::size_t at = 0; at < answer.size(); at += step) {
      const std::string piece = answer.substr(at, step);
      ::send(peer.get(), piece.data(), piece.size(), MSG_NOSIGNAL);
    }
  }

  sys::TestDir dir_;
  sys::UniqueFd listener_;
  std::thread thread_;
};

Result<Response> get_from(const std::string& path) {
  LoopThread loop;
  return loop.run(request_unix(path, {.target = "/x"}, soon()));
}

TEST(Client, SendsARequestAndReadsTheAnswer) {
  TestServer server([](std::shared_ptr<Exchange> exchange) -> aio::Task<Response> {
    auto body = co_await exchange->read_body();
    Response response;
    response.status = 400;
    response.content_type = "application/json";
    response.body =
        cat(exchange->method(), " ", exchange->path(), " ", exchange->header("host").value_or("?"),
            " ", exchange->header("x-request-id").value_or("?"), " ", body.value_or("?"));
    co_return response;
  });
  ClientRequest request{.method = "POST", .target = "/cni", .host = "dummy"};
  request.headers = {{"X-Request-Id", "0123"}};
  request.body = "null";

  LoopThread loop;
  const auto response = loop.run(request_unix(server.path(), request, soon()));

  ASSERT_TRUE(response.has_value()) << response.error().text();
  EXPECT_EQ(response->status, 400);
  EXPECT_EQ(response->content_type, "application/json");
  EXPECT_EQ(response->body, "POST /cni dummy 0123 null");
}

TEST(Client, ReadsAChunkedAnswerWhereverItIsCut) {
  for (std::size_t step : {1u, 2u, 3u, 7u, 1000u}) {
    OneAnswer server(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n",
        step);
    const auto response = get_from(server.path());
    ASSERT_TRUE(response.has_value()) << response.error().text();
    EXPECT_EQ(response->body, "abcdefg");
  }
}

TEST(Client, ReadsAnAnswerThatEndsWithTheConnection) {
  OneAnswer server("HTTP/1.0 200 OK\r\n\r\nall of it", 4);
  const auto response = get_from(server.path());
  ASSERT_TRUE(response.has_value()) << response.error().text();
  EXPECT_EQ(response->body, "all of it");
}

TEST(Client, RefusesAnAnswerThatWasCutOff) {
  const std::vector<std::pair<std::string, Errc>> cases = {
      {"", Errc::kIo},
      {"HTTP/1.1 20", Errc::kProtocol},
      {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", Errc::kProtocol}};
  for (const auto& [answer, code] : cases) {
    OneAnswer server(answer, 100);
    const auto response = get_from(server.path());
    ASSERT_FALSE(response.has_value()) << answer;
    EXPECT_EQ(response.error().code(), code) << answer;
  }
}

TEST(Client, SaysWhenNobodyListens) {
  sys::TestDir dir;
  const auto missing = get_from(dir / "s");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code(), Errc::kUnavailable);
  EXPECT_EQ(missing.error().os_errno(), ENOENT);
  EXPECT_THAT(missing.error().text(), HasSubstr("no such file or directory"));

  {
    const auto closed = listen_unix(dir / "s");
  }
  const auto refused = get_from(dir / "s");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().os_errno(), ECONNREFUSED);
}

TEST(Client, GivesUpAtTheDeadline) {
  sys::TestDir dir;
  const auto silent = listen_unix(dir / "s");
  LoopThread loop;

  const auto response =
      loop.run(request_unix(dir / "s", {}, std::chrono::steady_clock::now() + 30ms));

  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code(), Errc::kTimeout);
}

// The deadline then passes between two operations, when there is nothing to cancel.
TEST(Client, GivesUpIfTheLoopIsLateForItsDeadline) {
  sys::TestDir dir;
  const auto silent = listen_unix(dir / "s");
  LoopThread loop;

  for (int i = 0; i < 200; ++i) {
    const auto response =
        loop.run(request_unix(dir / "s", {}, std::chrono::steady_clock::now() + i * 1us));

    ASSERT_FALSE(response.has_value());
    EXPECT_EQ(response.error().code(), Errc::kTimeout);
  }
}

TEST(Client, TalksOverTcp) {
  auto listener = listen_tcp("127.0.0.1", 0);
  ASSERT_TRUE(listener.has_value()) << listener.error().text();
  const auto port = local_port(*listener);
  ASSERT_TRUE(port.has_value());
  LoopThread loop;
  std::optional<Server> server;
  loop.on_loop([&] {
    server.emplace(
        loop.executor(),
        [](std::shared_ptr<Exchange> exchange) -> aio::Task<Response> {
          Response response;
          response.body = exchange->peer_uid() ? "unix" : "tcp";
          co_return response;
        },
        Limits{}, Log{});
    server->serve(*std::move(listener));
  });

  const auto response = loop.run(request_tcp(*port, {}, soon()));
  loop.on_loop([&] { server.reset(); });

  ASSERT_TRUE(response.has_value()) << response.error().text();
  EXPECT_EQ(response->body, "tcp");
}

TEST(ListenTcp, SaysThatAPortIsTaken) {
  const auto first = listen_tcp("", 0);
  ASSERT_TRUE(first.has_value()) << first.error().text();

  const auto second = listen_tcp("", *local_port(*first));

  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code(), Errc::kConflict);
}

TEST(ListenTcp, RefusesAnAddressThatIsNone) {
  EXPECT_FALSE(listen_tcp("localhost", 0).has_value());
}

}  // namespace
}  // namespace mnet::http
