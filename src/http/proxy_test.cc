#include "http/proxy.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/text.h"
#include "base/try.h"
#include "http/scripted_server.h"
#include "http/url.h"

namespace mnet::http {
namespace {

using namespace std::chrono_literals;

aio::Deadline soon() { return std::chrono::steady_clock::now() + 20s; }

// The proxy's host, empty if there is none.
std::string chosen(const std::string& target, std::vector<std::string> environment) {
  auto proxy = proxy_of_environment(*parse_url(target), environment);
  if (!proxy) return "error";
  return *proxy ? (*proxy)->host : "";
}

TEST(Proxy, IsChosenByTheSchemeOfTheTarget) {
  const std::vector<std::string> both = {"HTTPS_PROXY=http://s:1", "http_proxy=p:2"};

  EXPECT_EQ(chosen("https://kube.test", both), "s");
  EXPECT_EQ(chosen("http://kube.test", both), "p");
  EXPECT_EQ(chosen("https://kube.test", {}), "");
  EXPECT_EQ(chosen("https://kube.test", {"https_proxy=low", "HTTPS_PROXY=up"}), "up");
  EXPECT_EQ(chosen("https://kube.test", {"HTTPS_PROXY=http://:bad"}), "error");
}

TEST(Proxy, IsNeverTakenForLocalTargets) {
  for (const char* target : {"https://localhost:1", "https://127.0.0.1", "https://[::1]"}) {
    EXPECT_EQ(chosen(target, {"HTTPS_PROXY=p"}), "") << target;
  }
}

TEST(Proxy, IsNotTakenForWhatNoProxyLists) {
  const auto with = [](const std::string& target, const std::string& list) {
    return chosen(target, {"HTTPS_PROXY=p", "NO_PROXY=" + list});
  };

  EXPECT_EQ(with("https://kube.test", "*"), "");
  EXPECT_EQ(with("https://kube.test", "a.test, kube.test"), "");
  EXPECT_EQ(with("https://api.kube.test", "kube.test"), "");
  EXPECT_EQ(with("https://api.kube.test", ".kube.test"), "");
  EXPECT_EQ(with("https://kube.test", ".kube.test"), "p");
  EXPECT_EQ(with("https://notkube.test", "kube.test"), "p");
  EXPECT_EQ(with("https://kube.test:6443", "kube.test:6443"), "");
  EXPECT_EQ(with("https://kube.test:6443", "kube.test:1"), "p");
  EXPECT_EQ(with("https://10.96.0.1", "10.96.0.0/12"), "");
  EXPECT_EQ(with("https://10.112.0.1", "10.96.0.0/12"), "p");
  EXPECT_EQ(with("https://[fd00::1]", "fd00::/8"), "");
  EXPECT_EQ(with("https://[fd00::1]", "fd00::1"), "");
  EXPECT_EQ(with("https://10.96.0.1", "10.96.0.1"), "");
  EXPECT_EQ(with("https://10.96.0.1", "10.96.0.2,,"), "p");
}

// The answers are those of Go's net/http: such entries come out of templates with empty variables.
TEST(Proxy, IsTakenInSpiteOfEntriesThatNameNothing) {
  for (const char* list : {".", "*.", "..", "*..", ":443", ":", "*:443", "*.:443", ".:443", "[]",
                           "[]:443", "[", "]", "/", "./", " ", ",", "*kube.test", "*.*"}) {
    const std::vector<std::string> environment = {"HTTPS_PROXY=p", cat("NO_PROXY=", list)};

    EXPECT_EQ(chosen("https://kube.test", environment), "p") << list;
    EXPECT_EQ(chosen("https://10.96.0.1", environment), "p") << list;
    EXPECT_EQ(chosen("https://[fd00::1]", environment), "p") << list;
  }
}

TEST(Proxy, IsNotTakenForWhatStandsBesideEntriesThatNameNothing) {
  EXPECT_EQ(chosen("https://kube.test", {"HTTPS_PROXY=p", "NO_PROXY=.,:443, *. ,kube.test"}), "");
  EXPECT_EQ(chosen("https://kube.test.", {"HTTPS_PROXY=p", "NO_PROXY=."}), "");
  EXPECT_EQ(chosen("https://[fd00::1]", {"HTTPS_PROXY=p", "NO_PROXY=[fd00::1]:443"}), "");
  EXPECT_EQ(chosen("https://[fd00::1]", {"HTTPS_PROXY=p", "NO_PROXY=[fd00::1]:80"}), "p");
}

// 10.96.0.1 is not a name below 0.1, nor is an address with the zone `a.kube.test` below kube.test.
TEST(Proxy, ComparesAddressesWithAddressesOnly) {
  EXPECT_EQ(chosen("https://10.96.0.1", {"HTTPS_PROXY=p", "NO_PROXY=0.1,.0.1"}), "p");
  EXPECT_EQ(chosen("https://[fd00::1%25a.kube.test]", {"HTTPS_PROXY=p", "NO_PROXY=kube.test"}),
            "p");
}

aio::Task<std::string> through(Url proxy, Url target) {
  MNET_CO_TRY(auto&& connection, co_await connect_through(proxy, nullptr, target, soon()));
  MNET_CO_TRY_VOID(co_await (connection)->write("x\r\n\r\n", soon()));
  co_return co_await (connection)->read(soon());
}

TEST(Proxy, OpensATunnelWithUserAndPassword) {
  const ScriptedServer proxy([](Peer& peer) {
    const auto request = peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\n\r\n");
    peer.read_request();
    peer.send(request->target() + " " + request->header("Proxy-Authorization"));
  });

  const auto text = aio::run(through(*parse_proxy(cat("me:secret@127.0.0.1:", proxy.port())),
                                     *parse_url("https://[fd00::1]:6443")));

  ASSERT_TRUE(text.has_value()) << text.error().text();
  EXPECT_EQ(*text, "[fd00::1]:6443 Basic bWU6c2VjcmV0");
}

TEST(Proxy, SaysThatItRefused) {
  const ScriptedServer proxy([](Peer& peer) {
    peer.read_request();
    peer.answer(407, "");
  });

  const auto text = aio::run(
      through(*parse_proxy(cat("127.0.0.1:", proxy.port())), *parse_url("https://kube.test")));

  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code(), Errc::kUnavailable);
}

// What the client of a SOCKS proxy must send for `kube.test:443`, and what it is answered.
TEST(Proxy, SpeaksSocks5) {
  const std::string expected =
      std::string("\x05\x01\x00", 3) + std::string("\x05\x01\x00\x03\x09kube.test\x01\xbb", 16);
  const ScriptedServer proxy([](Peer& peer) {
    peer.send(std::string("\x05\x00", 2));
    peer.send(std::string("\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50", 10));
    const auto request = peer.read_request();  // all that came, up to the blank line
    peer.send(request->head);
  });

  const auto text = aio::run(through(*parse_proxy(cat("socks5://127.0.0.1:", proxy.port())),
                                     *parse_url("https://kube.test")));

  ASSERT_TRUE(text.has_value()) << text.error().text();
  EXPECT_EQ(*text, expected + "x\r\n\r\n");
}

}  // namespace
}  // namespace mnet::http
