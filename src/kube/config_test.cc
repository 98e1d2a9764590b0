#include "kube/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "sys/test_dir.h"

namespace mnet::kube {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

// A kubeconfig whose cluster and user have these members, in YAML's flow form.
std::string kubeconfig(const std::string& cluster, const std::string& user) {
  return cat(R"(apiVersion: v1
kind: Config
current-context: here
preferences: {}
contexts:
- name: elsewhere
  context: {cluster: other, user: other}
- name: here
  context: {cluster: c, user: u, namespace: kube-system}
clusters:
- name: other
  cluster: {server: "https://other:6443"}
- name: c
  cluster: {)",
             cluster, R"(}
users:
- name: u
  user: {)",
             user, "}\n");
}

Result<Config> parse(const std::string& cluster, const std::string& user) {
  return parse_kubeconfig(kubeconfig(cluster, user), "/etc/multus");
}

const std::string kServer = R"(server: "https://10.0.0.1:6443")";

TEST(Kubeconfig, TakesClusterAndUserOfTheCurrentContext) {
  const auto config = parse(kServer, "token: secret");

  ASSERT_TRUE(config.has_value()) << config.error().text();
  EXPECT_EQ(config->server, "https://10.0.0.1:6443");
  EXPECT_EQ(config->token.data, "secret");
  EXPECT_FALSE(config->is_insecure);
}

// As kubectl reads $KUBECONFIG.
TEST(Kubeconfig, OfSeveralFilesTheFirstEntryOfANameIsRight) {
  const sys::TestDir dir;
  const std::string contexts =
      dir.write("a/config",
                "current-context: here\n"
                "contexts: [{name: here, context: {cluster: c, user: u}}]\n"
                "users: [{name: u, user: {tokenFile: token}}]\n");
  const std::string clusters = dir.write(
      "b/config", kubeconfig(kServer + ", certificate-authority: ca.crt", "tokenFile: other"));

  const auto config = load_kubeconfigs({contexts, clusters});
  const auto chosen = load_kubeconfigs({contexts, clusters}, "elsewhere");
  const auto missing = load_kubeconfigs({contexts});

  ASSERT_TRUE(config.has_value()) << config.error().text();
  EXPECT_EQ(config->server, "https://10.0.0.1:6443");
  EXPECT_EQ(config->ca.file, dir / "b/ca.crt");
  EXPECT_EQ(config->token.file, dir / "a/token");
  EXPECT_EQ(config->ns, "") << "the context is that of the first file";
  ASSERT_FALSE(chosen.has_value());
  EXPECT_THAT(chosen.error().text(), HasSubstr("users: no \"other\""));
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().text(), HasSubstr("clusters: no \"c\""));
}

TEST(Kubeconfig, PrefersWhatIsInPlaceToFiles) {
  const auto config =
      parse(kServer + ", certificate-authority: ca.crt, certificate-authority-data: Y2E=",
            "client-certificate: c.crt, client-certificate-data: Y2VydA==, client-key: k, "
            "client-key-data: a2V5");

  ASSERT_TRUE(config.has_value()) << config.error().text();
  EXPECT_EQ(config->ca.data, "ca");
  EXPECT_EQ(config->ca.file, "");
  EXPECT_EQ(config->certificate.data, "cert");
  EXPECT_EQ(config->key.data, "key");
}

TEST(Kubeconfig, TakesRelativePathsAsBesideItself) {
  const auto config = parse(kServer + ", certificate-authority: ../pki/ca.crt",
                            "client-certificate: /abs/c.crt, client-key: keys/k, tokenFile: token");

  ASSERT_TRUE(config.has_value()) << config.error().text();
  EXPECT_EQ(config->ca.file, "/etc/pki/ca.crt");
  EXPECT_EQ(config->certificate.file, "/abs/c.crt");
  EXPECT_EQ(config->key.file, "/etc/multus/keys/k");
  EXPECT_EQ(config->token.file, "/etc/multus/token");
}

TEST(Kubeconfig, ReadsServerNameProxyPasswordAndImpersonation) {
  const auto config = parse(
      kServer +
          R"(, tls-server-name: kube, proxy-url: "http://p:1", insecure-skip-tls-verify: true)",
      "username: me, password: pw, as: you, as-uid: '7', as-groups: [a, b], "
      "as-user-extra: {scopes: [x]}");

  ASSERT_TRUE(config.has_value()) << config.error().text();
  EXPECT_EQ(config->tls_server_name, "kube");
  EXPECT_EQ(config->proxy_url, "http://p:1");
  EXPECT_TRUE(config->is_insecure);
  EXPECT_EQ(config->username, "me");
  EXPECT_EQ(config->password, "pw");
  EXPECT_EQ(config->impersonated.user, "you");
  EXPECT_EQ(config->impersonated.uid, "7");
  EXPECT_THAT(config->impersonated.groups, ElementsAre("a", "b"));
  EXPECT_THAT(config->impersonated.extra, ElementsAre(Pair("scopes", ElementsAre("x"))));
}

TEST(Kubeconfig, ReadsExecPlugins) {
  const auto config = parse(
      kServer,
      "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, args: [get, it], "
      "env: [{name: A, value: b}], provideClusterInfo: true, interactiveMode: Never}");

  ASSERT_TRUE(config.has_value()) << config.error().text();
  ASSERT_TRUE(config->exec.has_value());
  EXPECT_EQ(config->exec->command, "/etc/multus/login");
  EXPECT_THAT(config->exec->args, ElementsAre("get", "it"));
  EXPECT_THAT(config->exec->env, ElementsAre(Pair("A", "b")));
  EXPECT_TRUE(config->exec->wants_cluster);
}

TEST(Kubeconfig, TakesPathsBesideARelativeKubeconfigAsAbsolute) {
  const sys::TestDir dir;
  dir.write("config", kubeconfig(kServer + ", certificate-authority: ca.crt",
                                 "exec: {apiVersion: client.authentication.k8s.io/v1, "
                                 "command: ./login}"));
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(dir.path());

  const auto config = load_kubeconfig("config");

  std::filesystem::current_path(before);
  ASSERT_TRUE(config.has_value()) << config.error().text();
  EXPECT_EQ(config->exec->command, dir / "login");
  EXPECT_EQ(config->ca.file, dir / "ca.crt");
}

TEST(Kubeconfig, LooksForAPlainCommandInPath) {
  const auto config =
      parse(kServer, "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: login}");

  ASSERT_TRUE(config.has_value()) << config.error().text();
  EXPECT_EQ(config->exec->command, "login");
}

TEST(Kubeconfig, NamesTheMemberThatIsWrong) {
  const auto text_of = [](const std::string& cluster, const std::string& user) {
    const auto config = parse(cluster, user);
    return config ? std::string("accepted") : config.error().text();
  };

  EXPECT_THAT(text_of("", ""), HasSubstr("clusters[1].cluster.server"));
  EXPECT_THAT(text_of("server: 'kube:6443'", ""), HasSubstr("clusters[1].cluster.server"));
  EXPECT_THAT(text_of(kServer + ", certificate-authority-data: '!'", ""),
              HasSubstr("clusters[1].cluster.certificate-authority-data"));
  EXPECT_THAT(text_of(kServer, "token: 5"), HasSubstr("users[0].user.token"));
  EXPECT_THAT(text_of(kServer, "client-certificate: x"), HasSubstr("client-key"));
  EXPECT_THAT(text_of(kServer, "exec: {command: x}"), HasSubstr("users[0].user.exec.apiVersion"));
  EXPECT_THAT(text_of(kServer, "exec: {apiVersion: client.authentication.k8s.io/v1}"),
              HasSubstr("users[0].user.exec.command"));
  EXPECT_THAT(text_of(kServer + ", proxy-url: 'x://y'", ""), HasSubstr("proxy-url"));
  EXPECT_THAT(text_of(kServer,
                      "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, "
                      "interactiveMode: Always}"),
              HasSubstr("interactiveMode"));
}

TEST(Kubeconfig, RefusesAnAuthorityForAConnectionThatIsNotVerified) {
  const auto config =
      parse(kServer + ", insecure-skip-tls-verify: true, certificate-authority: ca.crt", "");

  ASSERT_FALSE(config.has_value());
  EXPECT_THAT(config.error().text(), HasSubstr("is not allowed"));
}

TEST(Kubeconfig, RefusesContextsClustersAndUsersThatAreNotThere) {
  EXPECT_FALSE(parse_kubeconfig("", "/").has_value());
  EXPECT_FALSE(parse_kubeconfig("[]", "/").has_value());
  EXPECT_FALSE(parse_kubeconfig("kind: Config", "/").has_value());
  EXPECT_FALSE(parse_kubeconfig("current-context: x\ncontexts: []", "/").has_value());
  EXPECT_FALSE(parse_kubeconfig("current-context: x\ncontexts:\n- name: x\n  context: "
                                "{cluster: c, user: u}\nclusters: []\n",
                                "/")
                   .has_value());
}

TEST(Kubeconfig, SaysWhichFileItWas) {
  const sys::TestDir dir;
  const std::string path = dir.write("config", "kind: Config\n");

  EXPECT_THAT(load_kubeconfig(path).error().text(), HasSubstr(path));
  EXPECT_THAT(load_kubeconfig(dir / "none").error().text(), HasSubstr("no such file"));
}

TEST(InCluster, TakesHostAndPortFromTheEnvironment) {
  const sys::TestDir dir;
  dir.write("token", "t");

  const auto config = in_cluster_config(
      {"A=b", "KUBERNETES_SERVICE_HOST=10.96.0.1", "KUBERNETES_SERVICE_PORT=443"}, dir.path());

  ASSERT_TRUE(config.has_value()) << config.error().text();
  EXPECT_EQ(config->server, "https://10.96.0.1:443");
  EXPECT_EQ(config->token.file, dir / "token");
  EXPECT_EQ(config->ca.file, dir / "ca.crt");
}

// 06, pain 50.
TEST(InCluster, PutsIpv6HostsInBrackets) {
  const sys::TestDir dir;
  dir.write("token", "t");

  const auto config = in_cluster_config(
      {"KUBERNETES_SERVICE_HOST=fd00::1", "KUBERNETES_SERVICE_PORT=443"}, dir.path());

  ASSERT_TRUE(config.has_value()) << config.error().text();
  EXPECT_EQ(config->server, "https://[fd00::1]:443");
}

TEST(InCluster, NeedsBothVariablesAndAToken) {
  const sys::TestDir dir;
  const std::vector<std::string> both = {"KUBERNETES_SERVICE_HOST=a", "KUBERNETES_SERVICE_PORT=1"};

  EXPECT_EQ(in_cluster_config({both[0]}, dir.path()).error().code(), Errc::kNotFound);
  EXPECT_EQ(in_cluster_config({both[1]}, dir.path()).error().code(), Errc::kNotFound);
  EXPECT_THAT(in_cluster_config(both, dir.path()).error().text(), HasSubstr("token"));
}

}  // namespace
}  // namespace mnet::kube
