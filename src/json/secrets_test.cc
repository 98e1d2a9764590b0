#include "json/secrets.h"

#include <gtest/gtest.h>

#include <string>

namespace mnet::json {
namespace {

TEST(Secrets, AreKnownByTheirNamesInAnySpelling) {
  for (const char* name :
       {"token", "k8s_auth_token", "bearerToken", "Password", "db-passwd", "etcd_password",
        "clientSecret", "client-key-data", "privateKey", "apiKey", "awsAccessKey", "psk", "key",
        "Authorization", "credentials", "passphrase", "AUTH_KEY", "pre-shared-key"}) {
    EXPECT_TRUE(is_secret_name(name)) << name;
  }
  for (const char* name : {"name", "type", "tokenFile", "token_path", "secretName", "secretRef",
                           "publicKey", "monkey", "keys", "keepalive", "secretDir", "kubeconfig"}) {
    EXPECT_FALSE(is_secret_name(name)) << name;
  }
}

TEST(Secrets, AreTakenOutAtAnyDepthAndTheRestStaysReadable) {
  const std::string text =
      R"({"type":"calico","policy":{"k8s_auth_token":"eyJh"},"plugins":[{"a":1.50,"password":7},)"
      R"({"tls":{"key":{"x":"y"},"cert":"c"}}],"args":{"cni":{"token":["t"]}}})";

  EXPECT_EQ(without_secrets(text),
            R"({"type":"calico","policy":{"k8s_auth_token":"<removed>"},"plugins":[{"a":1.50,)"
            R"("password":"<removed>"},{"tls":{"key":"<removed>","cert":"c"}}],)"
            R"("args":{"cni":{"token":"<removed>"}}})");
}

TEST(Secrets, LeaveATextWithoutThemByteForByte) {
  for (const char* text :
       {R"({ "type" : "bridge", "n": 1e3, "x": "<&>" })",
        R"({"token":"","secret":null,"key":false})",
        R"({"kubeconfig":"/etc/cni/net.d/multus.d/multus.kubeconfig"})", "[1, 2]", "\"x\""}) {
    EXPECT_EQ(without_secrets(text), text);
  }
}

TEST(Secrets, TakeTheContentsOfAKubeconfigForOne) {
  EXPECT_EQ(without_secrets(R"({"kubeconfig":"apiVersion: v1\nusers: []"})"),
            R"({"kubeconfig":"<removed>"})");
  EXPECT_EQ(without_secrets(R"({"KubeConfig":{"users":[]}})"), R"({"KubeConfig":"<removed>"})");
}

TEST(Secrets, TellOnlyTheSizeOfWhatCannotBeRead) {
  EXPECT_EQ(without_secrets(R"({"token":"abc)"), "<13 bytes that are not JSON>");
}

// Of a text that leaves the cluster.
TEST(Scrubbed, RemovesWhatStandsInStringsOfStrings) {
  const std::string text = scrubbed(
      R"({"spec":{"config":"{\"type\":\"x\",\"password\":\"hunter2\",\"url\":\"https://me:hunter3@h/p\"}"},)"
      R"("annotations":{"last":"{\"data\":\"{\\\"token\\\":\\\"hunter4\\\"}\"}"},"plain":"kept"})");

  EXPECT_EQ(text.find("hunter"), std::string::npos) << text;
  EXPECT_NE(text.find("kept"), std::string::npos);
  EXPECT_NE(text.find("<removed>@h/p"), std::string::npos) << text;
}

TEST(Scrubbed, RemovesTokensKeysAndPasswordsFromLines) {
  const std::string text = scrubbed(
      "GET https://user:hunter1@registry/x failed\nAuthorization: Bearer hunter2.x-y\n"
      "clientSecret: 'hunter3'\npassword=hunter4&next=1\n"
      "id eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJodW50ZXI1In0.hunter5\n"
      "-----BEGIN RSA PRIVATE KEY-----\nhunter6\n-----END RSA PRIVATE KEY-----\nlast line\n");

  EXPECT_EQ(text.find("hunter"), std::string::npos) << text;
  EXPECT_NE(text.find("registry/x failed"), std::string::npos) << text;
  EXPECT_NE(text.find("&next=1"), std::string::npos) << text;
  EXPECT_NE(text.find("\nlast line\n"), std::string::npos) << text;
}

TEST(Scrubbed, RemovesAllOfAQuotedValueWhereJsonIsCut) {
  const std::string text = scrubbed(
      R"([{"password":"hunter two,three","psk": " hunter}four","plain":"kept","token":"","a":"b",)"
      R"("config":"{\"password\":\"hunter \\\"five, six\",\"plain\":\"kept too\",\"psk\":\"hunter;se)");

  for (const char* part : {"hunter", "two", "three", "four", "five", "six", "se"}) {
    EXPECT_EQ(text.find(part), std::string::npos) << part << ": " << text;
  }
  EXPECT_NE(text.find(R"("plain":"kept","token":"","a":"b")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"(\"plain\":\"kept too\")"), std::string::npos) << text;
}

TEST(Scrubbed, EndsAQuotedValueWithItsLine) {
  EXPECT_EQ(scrubbed("password: \"hunter two\nnext 'line'\n"),
            "password: \"<removed>\nnext 'line'\n");
}

TEST(Scrubbed, RemovesBlocksOfYaml) {
  const std::string clean = scrubbed(
      "users:\n- name: u\n  user:\n    token: |\n      alpha\n\n      bravo\n    other: kept\n"
      "  key:\n    charlie\npassword: >-2\n  delta\nlast: kept too\nsecret: |\nnot in it\n");

  for (const char* secret : {"alpha", "bravo", "charlie", "delta"}) {
    EXPECT_EQ(clean.find(secret), std::string::npos) << clean;
  }
  for (const char* other : {"name: u", "other: kept", "last: kept too", "not in it"}) {
    EXPECT_NE(clean.find(other), std::string::npos) << clean;
  }
}

// Each value would be indented by its depth.
TEST(Scrubbed, DoesNotMakeMuchOfLittle) {
  std::string deep(500, '[');
  for (int i = 0; i < 1000; ++i) deep += "0,";
  deep += "0" + std::string(500, ']');
  EXPECT_LE(scrubbed(deep).size(), 2 * deep.size());
}

TEST(Scrubbed, ReadsJsonInBase64) {
  // {"token":"hunter2"}
  EXPECT_EQ(scrubbed(R"({"config":"eyJ0b2tlbiI6Imh1bnRlcjIifQ=="})").find("aHVudGVyMg"),
            std::string::npos);
  EXPECT_NE(scrubbed(R"({"config":"eyJ0b2tlbiI6Imh1bnRlcjIifQ=="})").find("<removed>"),
            std::string::npos);
}

TEST(Scrubbed, LeavesOtherLinesAlone) {
  const std::string text =
      "2026-01-01T00:00:00Z [error] cannot read tokenFile: /run/token; key=value is odd: x\n";
  EXPECT_NE(scrubbed(text).find("tokenFile: /run/token"), std::string::npos) << scrubbed(text);
}

}  // namespace
}  // namespace mnet::json
