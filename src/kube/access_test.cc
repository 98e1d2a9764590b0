// Credentials and their exec plugins, with real files and programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "base/error.h"
#include "base/log.h"
#include "base/test_clock.h"
#include "base/test_log.h"
#include "base/text.h"
#include "http/http.h"
#include "http/test_tls.h"
#include "kube/config.h"
#include "kube/credentials.h"
#include "kube/exec_plugin.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::kube {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

Credentials credentials(Config config, std::chrono::milliseconds age = 0ms) {
  Credentials::Settings settings;
  settings.file_age = age;
  settings.environment = {"PATH=/usr/bin:/bin"};
  return Credentials(std::move(config), std::move(settings), Log());
}

std::string authorization(Credentials& from) {
  const auto access = aio::run(from.current());
  if (!access) return access.error().text();
  const std::string* text = http::find_header(access->headers, "Authorization");
  return text == nullptr ? "" : *text;
}

class CredentialsTest : public testing::Test {
 protected:
  sys::TestDir dir_;
  Config config_{.server = "http://127.0.0.1:1"};
};

// 03, 12, row 109.
TEST_F(CredentialsTest, ReadsTheTokenAgainWhenItsTimeHasCome) {
  config_.token.file = dir_.write("token", "first\n");
  Credentials fresh = credentials(config_, 1h);
  Credentials due = credentials(config_, 0ms);
  EXPECT_EQ(authorization(fresh), "Bearer first");
  EXPECT_EQ(authorization(due), "Bearer first");

  dir_.write("token", "second");

  EXPECT_EQ(authorization(fresh), "Bearer first");
  EXPECT_EQ(authorization(due), "Bearer second");
  EXPECT_EQ(aio::run(fresh.renew()).value(), true);
  EXPECT_EQ(authorization(fresh), "Bearer second");
  EXPECT_EQ(aio::run(fresh.renew()).value(), false);
}

TEST_F(CredentialsTest, KeepsTheLastTokenWhenTheFileIsUnreadable) {
  config_.token.file = dir_.write("token", "first");
  Credentials current = credentials(config_);
  EXPECT_EQ(authorization(current), "Bearer first");

  std::filesystem::remove(config_.token.file);

  EXPECT_EQ(authorization(current), "Bearer first");
}

TEST_F(CredentialsTest, PrefersTheTokensFileToTheTokenInPlace) {
  config_.token = {.data = "in place", .file = dir_ / "token"};
  Credentials current = credentials(config_);
  EXPECT_EQ(authorization(current), "Bearer in place");

  dir_.write("token", "of the file");

  EXPECT_EQ(authorization(current), "Bearer of the file");
}

TEST_F(CredentialsTest, SaysThatThereIsNoToken) {
  config_.token.file = dir_ / "token";
  Credentials current = credentials(config_);

  EXPECT_THAT(authorization(current), HasSubstr(dir_ / "token"));
}

TEST_F(CredentialsTest, UsesUserAndPassword) {
  config_.username = "me";
  config_.password = "pw";
  Credentials current = credentials(config_);

  EXPECT_EQ(authorization(current), "Basic bWU6cHc=");
}

// The API server reads the key as a path of a URL: `example.com/a b` must arrive.
TEST_F(CredentialsTest, EscapesTheKeysOfImpersonationAsClientGoDoes) {
  config_.impersonated.extra["example.com/a b%:"] = {"x", "y"};
  config_.impersonated.extra["!plain.-_~"] = {"z"};
  Credentials current = credentials(config_);

  const auto access = aio::run(current.current());

  ASSERT_TRUE(access.has_value()) << access.error().text();
  EXPECT_THAT(access->headers,
              ElementsAre(Pair("Impersonate-Extra-!plain.-_~", "z"),
                          Pair("Impersonate-Extra-example.com%2Fa%20b%25%3A", "x"),
                          Pair("Impersonate-Extra-example.com%2Fa%20b%25%3A", "y")));
}

TEST_F(CredentialsTest, MakesNewTrustOfANewAuthorityAndKeepsItWhenTheFileIsBroken) {
  config_.server = "https://127.0.0.1:1";
  config_.ca.file = dir_.write("ca.crt", http::TestAuthority().pem());
  Credentials current = credentials(config_);
  const auto first = aio::run(current.current());
  const auto same = aio::run(current.current());
  dir_.write("ca.crt", http::TestAuthority().pem());
  const auto second = aio::run(current.current());
  dir_.write("ca.crt", "half a fi");
  const auto kept = aio::run(current.current());

  ASSERT_TRUE(first && same && second && kept);
  EXPECT_EQ(first->tls_number, same->tls_number);
  EXPECT_NE(first->tls_number, second->tls_number);
  EXPECT_EQ(second->tls, kept->tls);
}

TEST_F(CredentialsTest, GoesWithoutAnAuthorityOnlyWhereThatIsAllowed) {
  config_.server = "https://127.0.0.1:1";
  config_.ca.file = dir_ / "ca.crt";
  Credentials strict = credentials(config_);
  config_.ca_may_be_missing = true;
  Credentials lenient = credentials(config_);

  EXPECT_FALSE(aio::run(strict.current()).has_value());
  EXPECT_TRUE(aio::run(lenient.current()).has_value());
}

// From 10000 to 20000.
std::string dated_token(std::string_view id) {
  std::string claims = to_base64(cat(R"({"iat":10000,"exp":20000,"jti":")", id, "\"}"));
  std::erase(claims, '=');
  return cat("a.", claims, ".c");
}

// pain 15
TEST_F(CredentialsTest, SaysOnceThatATokenEndsSoonAndOnceThatItHasEnded) {
  config_.token.file = dir_.write("token", dated_token("first"));
  TestClock clock;
  const auto lines = std::make_shared<TestLog>();
  Credentials::Settings settings;
  settings.file_age = 0ms;
  settings.clock = &clock;
  Credentials current(config_, settings, Log({lines}, LogLevel::kError));
  const auto said_at = [&](std::chrono::seconds time) {
    clock.time = TestClock::Time(time);
    lines->clear();
    EXPECT_TRUE(aio::run(current.current()).has_value());
    return lines->lines();
  };

  EXPECT_THAT(said_at(19000s), IsEmpty());
  ASSERT_TRUE(current.token_life());
  EXPECT_EQ(current.token_life()->end, std::chrono::system_clock::time_point(20000s));
  EXPECT_THAT(said_at(19001s), ElementsAre(AllOf(HasSubstr(config_.token.file),
                                                 HasSubstr("expires at 1970-01-01T05:33:20Z"))));
  EXPECT_THAT(said_at(19500s), IsEmpty());
  EXPECT_THAT(said_at(20000s), ElementsAre(HasSubstr("expired at 1970-01-01T05:33:20Z")));
  EXPECT_THAT(said_at(20001s), IsEmpty());
  dir_.write("token", dated_token("other"));
  EXPECT_THAT(said_at(19500s), ElementsAre(HasSubstr("expires at")));
  dir_.write("token", "one that does not say");
  EXPECT_THAT(said_at(30000s), IsEmpty());
  EXPECT_FALSE(current.token_life());
}

// Prints a token with the number of times it was run, and what it was told.
std::string login_script(const sys::TestDir& dir, const std::string& more = "") {
  return dir.write(
      "login",
      cat("#!/bin/sh\necho run >>", dir / "runs", "\nn=$(grep -c . ", dir / "runs",
          ")\nprintf '%s' \"$KUBERNETES_EXEC_INFO\" >", dir / "info", "\nread line && exit 3\n",
          "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"x\",\"status\":{\"token\":\"'"
          "$1-$OWN-$n'\"",
          more, "}}'\n"),
      0755);
}

ExecPlugin plugin(std::string command) {
  return {.api_version = "client.authentication.k8s.io/v1",
          .command = std::move(command),
          .args = {"arg"},
          .env = {{"OWN", "env"}},
          .wants_cluster = true};
}

TEST_F(CredentialsTest, AsksAnExecPluginOnceAndAgainWhenRefused) {
  config_.exec = plugin(login_script(dir_));
  Credentials current = credentials(config_);

  EXPECT_EQ(authorization(current), "Bearer arg-env-1");
  EXPECT_EQ(authorization(current), "Bearer arg-env-1");
  EXPECT_EQ(aio::run(current.renew()).value(), true);
  EXPECT_EQ(authorization(current), "Bearer arg-env-2");
  const auto info = sys::read_file(dir_ / "info");
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(*info, R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
                   R"("spec":{"interactive":false,"cluster":{"server":"http://127.0.0.1:1"}}})");
}

TEST_F(CredentialsTest, AsksAnExecPluginAgainWhenItsAnswerHasExpired) {
  config_.exec =
      plugin(login_script(dir_, ",\"expirationTimestamp\":\"2020-01-01T00:00:00.5+01:00\""));
  Credentials current = credentials(config_, 1h);

  EXPECT_EQ(authorization(current), "Bearer arg-env-1");
  EXPECT_EQ(authorization(current), "Bearer arg-env-2");
}

TEST_F(CredentialsTest, SaysWhyAnExecPluginFailed) {
  config_.exec =
      plugin(dir_.write("login", "#!/bin/sh\necho no luck, token=hunter2 >&2\nexit 7\n", 0755));
  Credentials failing = credentials(config_);
  config_.exec = plugin("no-such-program");
  Credentials missing = credentials(config_);

  EXPECT_THAT(authorization(failing), HasSubstr("exit status 7: no luck, token=<removed>"));
  EXPECT_THAT(authorization(missing), HasSubstr("not found in PATH"));
}

TEST_F(CredentialsTest, EndsAnExecPluginThatHangs) {
  config_.exec = plugin(dir_.write("login", "#!/bin/sh\nsleep 1000\n", 0755));

  const auto answer = aio::run(run_exec_plugin(config_, "", {"PATH=/usr/bin:/bin"},
                                               std::chrono::steady_clock::now() + 100ms));

  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code(), Errc::kTimeout);
}

TEST(ExecCredential, RefusesWhatSaysNothing) {
  for (const char* text :
       {"", "{}", "[]", R"({"kind":"Pod"})", R"({"kind":"ExecCredential"})",
        R"({"kind":"ExecCredential","status":{}})",
        R"({"kind":"ExecCredential","status":{"clientCertificateData":"x"}})",
        R"({"kind":"ExecCredential","status":{"token":"x","expirationTimestamp":"soon"}})"}) {
    EXPECT_FALSE(parse_exec_credential(text).has_value()) << text;
  }
}

TEST(ExecCredential, ReadsTimes) {
  const auto zulu = parse_rfc3339("2026-08-20T15:39:05Z");
  const auto offset = parse_rfc3339("2026-08-20T17:39:05.123456789+02:00");

  ASSERT_TRUE(zulu.has_value());
  EXPECT_EQ(std::chrono::system_clock::to_time_t(*zulu), 1787240345);
  EXPECT_EQ(zulu, offset);
  for (const char* text :
       {"", "2026", "2026-08-20 15:39:05Z", "2026-13-20T15:39:05Z", "2026-08-20T15:39:05",
        "2026-08-20T15:39:05+2", "x026-08-20T15:39:05Z"}) {
    EXPECT_FALSE(parse_rfc3339(text).has_value()) << text;
  }
}

TEST(Rfc3339, TakesTimesThatTheClockCannotCountForItsLast) {
  const auto far = parse_rfc3339("3386-08-20T17:39:05.1+02:00");
  const auto early = parse_rfc3339("0001-01-01T00:00:00Z");

  ASSERT_TRUE(far.has_value() && early.has_value());
  EXPECT_GT(*far, *parse_rfc3339("2262-04-11T00:00:00Z"));
  EXPECT_LT(*early, *parse_rfc3339("1678-01-01T00:00:00Z"));
}

}  // namespace
}  // namespace mnet::kube
