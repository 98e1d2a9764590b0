#include "http/origin_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <latch>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/text.h"
#include "base/try.h"
#include "http/http.h"
#include "http/scripted_server.h"
#include "http/test_tls.h"
#include "http/tls.h"
#include "http/url.h"

namespace mnet::http {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

aio::Deadline soon() { return std::chrono::steady_clock::now() + 20s; }

OriginSettings settings_for(const ScriptedServer& server, std::string_view scheme = "http") {
  return {.origin = *parse_url(cat(scheme, "://127.0.0.1:", server.port()))};
}

aio::Task<std::string> ask(OriginClient* client, ClientRequest request) {
  MNET_CO_TRY(auto&& answer, co_await client->open(std::move(request), soon()));
  co_return co_await read_whole(answer.get(), 1u << 20, soon());
}

aio::Task<void> ask_twice_at_once(OriginClient* client) {
  std::vector<aio::Task<std::string>> both;
  for (int i = 0; i < 2; ++i) both.push_back(ask(client, {}));
  const auto answers = co_await aio::all(std::move(both));
  for (const auto& answer : answers) EXPECT_TRUE(answer.has_value());
  co_return Result<void>();
}

// Answers every request with its method, target and body.
void echo(Peer& peer) {
  while (const auto request = peer.read_request()) {
    peer.answer(200, cat(request->method(), " ", request->target(), " ", request->body));
  }
}

// Our end of the connection to this port; -1: none.
int socket_to(std::uint16_t port) {
  for (int fd = 0; fd < 1024; ++fd) {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
        peer.sin_family == AF_INET && ::ntohs(peer.sin_port) == port) {
      return fd;
    }
  }
  return -1;
}

int option(int fd, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  ::getsockopt(fd, level, name, &value, &size);
  return value;
}

// 03, 5.1: a watch is silent most of the time, so that nothing else would tell.
TEST(OriginClient, NoticesAPeerThatVanishedWithinHalfAMinute) {
  aio::asio::io_context loop;  // outlives the connections
  const ScriptedServer server(echo);
  OriginClient client(settings_for(server), nullptr);
  ASSERT_TRUE(aio::run(loop, ask(&client, {})).has_value());

  const int fd = socket_to(server.port());

  ASSERT_GE(fd, 0);
  EXPECT_EQ(option(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_KEEPIDLE), 15);
  EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_KEEPINTVL), 5);
  EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_KEEPCNT), 3);
  EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 30'000);
}

TEST(OriginClient, UsesOneConnectionForRequestsOneAfterAnother) {
  aio::asio::io_context loop;  // outlives the connections
  const ScriptedServer server(echo);
  OriginClient client(settings_for(server), nullptr);

  const auto first = aio::run(loop, ask(&client, {.target = "/a"}));
  const auto second =
      aio::run(loop, ask(&client, {.method = "PATCH", .target = "/b", .body = "x"}));

  ASSERT_TRUE(first.has_value()) << first.error().text();
  EXPECT_EQ(*first, "GET /a ");
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(*second, "PATCH /b x");
  EXPECT_EQ(server.accepted(), 1u);
}

TEST(OriginClient, KeepsTlsConnectionsToo) {
  aio::asio::io_context loop;  // outlives the connections
  const TestAuthority authority;
  const ScriptedServer server(echo, ScriptedServer::Tls{authority.sign("s", "IP:127.0.0.1")});
  OriginClient client(settings_for(server, "https"), *make_tls_context({.ca = authority.pem()}));

  EXPECT_TRUE(aio::run(loop, ask(&client, {})).has_value());
  EXPECT_TRUE(aio::run(loop, ask(&client, {})).has_value());

  EXPECT_EQ(server.accepted(), 1u);
}

// 03, 5.1: new files are for new connections.
TEST(OriginClient, MakesNewConnectionsWhenTheTrustChanges) {
  aio::asio::io_context loop;  // outlives the connections
  const TestAuthority authority;
  const ScriptedServer server(echo, ScriptedServer::Tls{authority.sign("s", "IP:127.0.0.1")});
  OriginClient client(settings_for(server, "https"), *make_tls_context({.ca = authority.pem()}));

  EXPECT_TRUE(aio::run(loop, ask(&client, {})).has_value());
  client.set_tls(*make_tls_context({.ca = TestAuthority().pem()}));
  const auto distrusted = aio::run(loop, ask(&client, {}));

  ASSERT_FALSE(distrusted.has_value());
  EXPECT_EQ(distrusted.error().code(), Errc::kDenied);
}

TEST(OriginClient, ReplacesAConnectionThatDiedWhileItLayIdle) {
  aio::asio::io_context loop;  // outlives the connections
  const ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.answer(200, "once");
  });
  OriginClient client(settings_for(server), nullptr);

  for (int i = 0; i < 3; ++i) {
    const auto text = aio::run(loop, ask(&client, {}));
    ASSERT_TRUE(text.has_value()) << text.error().text();
  }

  EXPECT_EQ(server.accepted(), 3u);
}

TEST(OriginClient, SendsAgainIfAKeptConnectionTakesTheRequestAndDies) {
  aio::asio::io_context loop;  // outlives the connections
  std::atomic<int> connections = 0;
  const ScriptedServer server([&](Peer& peer) {
    const bool dies = connections++ == 0;
    peer.read_request();
    peer.answer(200, "first");
    peer.read_request();
    if (!dies) peer.answer(200, "second");
  });
  OriginClient client(settings_for(server), nullptr);

  EXPECT_TRUE(aio::run(loop, ask(&client, {})).has_value());
  const auto again = aio::run(loop, ask(&client, {.method = "PATCH"}));

  ASSERT_TRUE(again.has_value()) << again.error().text();
  EXPECT_EQ(*again, "first");
}

TEST(OriginClient, NeverSendsAPostTwice) {
  aio::asio::io_context loop;  // outlives the connections
  const ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.answer(200, "first");
    peer.read_request();
  });
  OriginClient client(settings_for(server), nullptr);

  EXPECT_TRUE(aio::run(loop, ask(&client, {})).has_value());
  const auto posted = aio::run(loop, ask(&client, {.method = "POST", .body = "x"}));

  ASSERT_FALSE(posted.has_value());
  EXPECT_EQ(posted.error().code(), Errc::kIo);
}

TEST(OriginClient, ClosesWhatTheServerWantsClosed) {
  aio::asio::io_context loop;  // outlives the connections
  const ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.answer(200, "", "Connection: close\r\n");
    peer.wait_for_close();
  });
  OriginClient client(settings_for(server), nullptr);

  EXPECT_TRUE(aio::run(loop, ask(&client, {})).has_value());

  EXPECT_EQ(client.idle_connections(), 0u);
}

TEST(OriginClient, ClosesIdleConnectionsButThoseThatWereUsedLast) {
  aio::asio::io_context loop;  // outlives the connections
  std::latch both(2);
  std::atomic<int> connections = 0;
  const ScriptedServer server([&both, &connections](Peer& peer) {
    const std::string number = cat(++connections);
    bool is_first = true;
    while (peer.read_request()) {
      if (std::exchange(is_first, false)) both.arrive_and_wait();
      peer.answer(200, number);
    }
  });
  OriginClient client(settings_for(server), nullptr);
  ASSERT_TRUE(aio::run(loop, ask_twice_at_once(&client)));
  ASSERT_EQ(client.idle_connections(), 2u);
  const auto last = aio::run(loop, ask(&client, {}));

  client.close_idle(1);

  EXPECT_EQ(client.idle_connections(), 1u);
  EXPECT_EQ(aio::run(loop, ask(&client, {})).value(), last.value());
  EXPECT_EQ(connections, 2);
}

aio::Task<std::vector<std::string>> pieces(OriginClient* client) {
  MNET_CO_TRY(auto&& answer, co_await client->open({}, soon()));
  std::vector<std::string> out;
  for (;;) {
    MNET_CO_TRY(auto&& piece, co_await (answer)->read(soon()));
    if (piece.empty()) co_return out;
    out.push_back(piece);
  }
}

std::string joined(const std::vector<std::string>& texts) { return join(texts, ""); }

// The last bytes of an event must not wait for the next one.
TEST(OriginClient, HandsOutPiecesOfAStreamAsTheyCome) {
  aio::asio::io_context loop;  // outlives the connections
  std::atomic<bool> seen = false;
  const ScriptedServer server([&](Peer& peer) {
    peer.begin_chunks();
    peer.send("4\r\nabc");
    peer.send("d\r\n");
    while (!seen) std::this_thread::yield();
    peer.chunk("e");
    peer.end_chunks();
    peer.wait_for_close();
  });
  OriginClient client(settings_for(server), nullptr);
  auto read = [](OriginClient* from, std::atomic<bool>* all) -> aio::Task<std::string> {
    MNET_CO_TRY(auto&& answer, co_await from->open({}, soon()));
    std::string text;
    while (text.size() < 5) {
      MNET_CO_TRY(auto&& piece, co_await (answer)->read(soon()));
      text += piece;
      if (text.size() == 4) *all = true;
    }
    co_return text;
  };

  const auto text = aio::run(loop, read(&client, &seen));

  ASSERT_TRUE(text.has_value()) << text.error().text();
  EXPECT_EQ(*text, "abcde");
}

TEST(OriginClient, GivesAStreamsConnectionBackAtItsEnd) {
  aio::asio::io_context loop;  // outlives the connections
  const ScriptedServer server([](Peer& peer) {
    while (peer.read_request()) {
      peer.begin_chunks();
      peer.chunk("one\n");
      peer.chunk("two\n");
      peer.end_chunks();
    }
  });
  OriginClient client(settings_for(server), nullptr);

  const auto first = aio::run(loop, pieces(&client));
  const auto second = aio::run(loop, pieces(&client));

  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_EQ(joined(*first), "one\ntwo\n");
  EXPECT_EQ(server.accepted(), 1u);
}

TEST(OriginClient, TellsAStreamThatWasCutFromOneThatEnded) {
  aio::asio::io_context loop;  // outlives the connections
  const ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.begin_chunks();
    peer.send("40\r\nhalf an object");
  });
  OriginClient client(settings_for(server), nullptr);

  const auto read = aio::run(loop, pieces(&client));

  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code(), Errc::kProtocol);
}

TEST(OriginClient, RefusesAnAnswerLargerThanAsked) {
  aio::asio::io_context loop;  // outlives the connections
  const ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.answer(200, std::string(2u << 20, 'x'));
  });
  OriginClient client(settings_for(server), nullptr);

  const auto text = aio::run(loop, ask(&client, {}));

  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code(), Errc::kProtocol);
}

// A token may come from a file, a path from a pod's name: each would be two lines.
TEST(OriginClient, SendsNoHeaderAndNoPathWithALineBreak) {
  aio::asio::io_context loop;
  const ScriptedServer server(echo);
  OriginClient client(settings_for(server), nullptr);

  for (const char* bad : {"a\nb", "a\r\nX: b", "\x01"}) {
    const auto header = aio::run(loop, ask(&client, {.headers = {{"Authorization", bad}}}));
    const auto path = aio::run(loop, ask(&client, {.target = bad}));

    ASSERT_FALSE(header.has_value() || path.has_value());
    EXPECT_EQ(header.error().code(), Errc::kInvalid);
    EXPECT_EQ(path.error().code(), Errc::kInvalid);
  }
}

TEST(OriginClient, PutsThePathOfTheOriginInFront) {
  aio::asio::io_context loop;  // outlives the connections
  const ScriptedServer server(echo);
  OriginSettings settings = settings_for(server);
  settings.origin.path = "/clusters/a";
  OriginClient client(settings, nullptr);

  EXPECT_EQ(*aio::run(loop, ask(&client, {.target = "/api/v1"})), "GET /clusters/a/api/v1 ");
}

TEST(OriginClient, ReachesAnIpv6Literal) {
  aio::asio::io_context loop;  // outlives the connections
  const ScriptedServer server(
      [](Peer& peer) {
        const auto request = peer.read_request();
        peer.answer(200, request->header("Host"));
      },
      {}, "::1");
  OriginClient client({.origin = *parse_url(cat("http://[::1]:", server.port()))}, nullptr);

  EXPECT_EQ(*aio::run(loop, ask(&client, {})), cat("[::1]:", server.port()));
}

TEST(OriginClient, SaysThatNobodyListens) {
  aio::asio::io_context loop;  // outlives the connections
  std::uint16_t port = 0;
  {
    port = ScriptedServer(echo).port();
  }
  OriginClient client({.origin = *parse_url(cat("http://127.0.0.1:", port))}, nullptr);

  const auto text = aio::run(loop, ask(&client, {}));

  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code(), Errc::kUnavailable);
}

}  // namespace
}  // namespace mnet::http
