#include "http/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/prov_ssl.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "http/byte_stream.h"
#include "http/scripted_server.h"
#include "http/test_tls.h"

namespace mnet::http {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

aio::Deadline soon() { return std::chrono::steady_clock::now() + 20s; }

class Tls : public testing::Test {
 protected:
  // Sends `hello` and the name in the client's certificate.
  ScriptedServer server(const std::string& alt_names, const std::string& client_ca = {}) const {
    return ScriptedServer([](Peer& peer) { peer.send("hello " + peer.client_name()); },
                          ScriptedServer::Tls{authority_.sign("server", alt_names), client_ca});
  }

  static aio::Task<std::string> talk(std::uint16_t port, TlsSettings settings, std::string name) {
    MNET_CO_TRY(auto&& context, make_tls_context(settings));
    MNET_CO_TRY(auto&& connection, co_await connect_tcp("127.0.0.1", port, soon()));
    MNET_CO_TRY(auto&& secure, co_await start_tls(std::move(connection), context, name, soon()));
    co_return co_await (secure)->read(soon());
  }

  TestAuthority authority_;
};

TEST_F(Tls, TrustsAServerWithACertificateForItsAddress) {
  const ScriptedServer peer = server("IP:127.0.0.1");

  const auto text = aio::run(talk(peer.port(), {.ca = authority_.pem()}, "127.0.0.1"));

  ASSERT_TRUE(text.has_value()) << text.error().text();
  EXPECT_EQ(*text, "hello ");
}

TEST_F(Tls, TrustsAServerWithACertificateForTheNameGiven) {
  const ScriptedServer peer = server("DNS:kube.test");

  EXPECT_TRUE(aio::run(talk(peer.port(), {.ca = authority_.pem()}, "kube.test")).has_value());
}

TEST_F(Tls, RefusesACertificateForSomebodyElse) {
  const ScriptedServer peer = server("DNS:kube.test,IP:127.0.0.2");

  const auto by_name = aio::run(talk(peer.port(), {.ca = authority_.pem()}, "other.test"));
  const auto by_address = aio::run(talk(peer.port(), {.ca = authority_.pem()}, "127.0.0.1"));

  ASSERT_FALSE(by_name.has_value());
  EXPECT_EQ(by_name.error().code(), Errc::kDenied);
  EXPECT_THAT(by_name.error().text(), HasSubstr("x509"));
  EXPECT_FALSE(by_address.has_value());
}

// OpenSSL checks no name at all if it is given an empty one.
TEST_F(Tls, RefusesANameThatNoCertificateCanHave) {
  const ScriptedServer peer = server("DNS:kube.test,IP:127.0.0.2");
  const std::string cut_at_nul("kube.test\0.other", 16);

  for (const std::string& name : {std::string(), std::string("%eth0"), cut_at_nul}) {
    const auto text = aio::run(talk(peer.port(), {.ca = authority_.pem()}, name));

    ASSERT_FALSE(text.has_value()) << name;
    EXPECT_EQ(text.error().code(), Errc::kInvalid) << name;
  }
  const auto too_long =
      aio::run(talk(peer.port(), {.ca = authority_.pem()}, std::string(300, 'x')));
  ASSERT_FALSE(too_long.has_value());
  EXPECT_THAT(too_long.error().text(), HasSubstr("the server's name cannot be used"));
}

TEST_F(Tls, RefusesACertificateOfAnotherAuthority) {
  const ScriptedServer peer = server("IP:127.0.0.1");
  const TestAuthority stranger;

  const auto text = aio::run(talk(peer.port(), {.ca = stranger.pem()}, "127.0.0.1"));

  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code(), Errc::kDenied);
}

// What Go accepts; tests/readers compares many more chains with Go itself.
TEST_F(Tls, TrustsAnIntermediateAuthorityWithoutItsRoot) {
  const TestAuthority intermediate(&authority_);
  const ScriptedServer peer([](Peer& client) { client.send("hello"); },
                            ScriptedServer::Tls{intermediate.sign("server", "IP:127.0.0.1"), {}});

  const auto text = aio::run(talk(peer.port(), {.ca = intermediate.pem()}, "127.0.0.1"));

  ASSERT_TRUE(text.has_value()) << text.error().text();
}

TEST_F(Tls, TriesAllAuthoritiesOfOneName) {
  const ScriptedServer peer = server("IP:127.0.0.1");
  const TestAuthority one, two;

  for (const std::string& bundle : {one.pem() + authority_.pem() + two.pem(),
                                    authority_.pem() + one.pem(), one.pem() + authority_.pem()}) {
    const auto text = aio::run(talk(peer.port(), {.ca = bundle}, "127.0.0.1"));
    ASSERT_TRUE(text.has_value()) << text.error().text();
  }
  EXPECT_FALSE(aio::run(talk(peer.port(), {.ca = one.pem() + two.pem()}, "127.0.0.1")).has_value());
}

TEST_F(Tls, PassesOverBlocksOfABundleThatAreNotCertificates) {
  const ScriptedServer peer = server("IP:127.0.0.1");

  for (const std::string_view bad : {"AAAA", "!", "MIIB"}) {
    const std::string bundle = cat("# of another cluster\n-----BEGIN CERTIFICATE-----\n", bad,
                                   "\n-----END CERTIFICATE-----\n", authority_.pem());
    const auto text = aio::run(talk(peer.port(), {.ca = bundle}, "127.0.0.1"));
    ASSERT_TRUE(text.has_value()) << bad << ": " << text.error().text();
  }
}

TEST_F(Tls, DoesNotTakeTheCommonNameForTheServersName) {
  const ScriptedServer peer([](Peer& client) { client.send("hello"); },
                            ScriptedServer::Tls{authority_.sign("kube.test", ""), {}});

  EXPECT_FALSE(aio::run(talk(peer.port(), {.ca = authority_.pem()}, "kube.test")).has_value());
}

TEST_F(Tls, SpeaksNoVersionBefore12) {
  const auto said_by = [this](int newest_version) {
    const ScriptedServer peer([](Peer& client) { client.send("hello"); },
                              ScriptedServer::Tls{.identity = authority_.sign("s", "IP:127.0.0.1"),
                                                  .newest_version = newest_version});
    return aio::run(talk(peer.port(), {.ca = authority_.pem()}, "127.0.0.1"));
  };

  EXPECT_EQ(said_by(TLS1_3_VERSION).value_or(""), "hello");
  EXPECT_EQ(said_by(TLS1_2_VERSION).value_or(""), "hello");
  EXPECT_FALSE(said_by(TLS1_1_VERSION).has_value());
  EXPECT_FALSE(said_by(TLS1_VERSION).has_value());
}

TEST_F(Tls, TrustsAnybodyIfToldTo) {
  const ScriptedServer peer = server("DNS:other.test");

  EXPECT_TRUE(aio::run(talk(peer.port(), {.verifies = false}, "127.0.0.1")).has_value());
}

TEST_F(Tls, ShowsItsOwnCertificate) {
  const ScriptedServer peer = server("IP:127.0.0.1", authority_.pem());
  const Identity own = authority_.sign("node-a", "");

  const auto text = aio::run(
      talk(peer.port(), {.ca = authority_.pem(), .certificate = own.certificate, .key = own.key},
           "127.0.0.1"));

  ASSERT_TRUE(text.has_value()) << text.error().text();
  EXPECT_EQ(*text, "hello node-a");
}

TEST_F(Tls, RefusesTextsThatAreNoCertificates) {
  const Identity own = authority_.sign("a", "");
  const Identity other = authority_.sign("b", "");

  EXPECT_FALSE(make_tls_context({.ca = "nonsense"}).has_value());
  EXPECT_FALSE(make_tls_context({.ca = authority_.pem(), .certificate = "x", .key = own.key}));
  EXPECT_FALSE(
      make_tls_context({.ca = authority_.pem(), .certificate = own.certificate, .key = ""}));
  EXPECT_FALSE(
      make_tls_context({.ca = authority_.pem(), .certificate = own.certificate, .key = other.key}));
}

TEST_F(Tls, EndsAtTheDeadlineIfTheServerSaysNothing) {
  const ScriptedServer silent([](Peer& peer) { peer.wait_for_close(); });
  auto context = make_tls_context({.ca = authority_.pem()});
  ASSERT_TRUE(context.has_value());
  auto shake = [](std::uint16_t port, TlsContextPtr with) -> aio::Task<void> {
    MNET_CO_TRY(auto&& connection, co_await connect_tcp("127.0.0.1", port, soon()));
    MNET_CO_TRY([[maybe_unused]] const auto& secure,
                co_await start_tls(std::move(connection), with, "127.0.0.1",
                                   std::chrono::steady_clock::now() + 50ms));
    co_return Result<void>();
  };

  const auto done = aio::run(shake(silent.port(), *context));

  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code(), Errc::kTimeout);
}

}  // namespace
}  // namespace mnet::http
