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

}  // namespace
}  // namespace mnet::json
