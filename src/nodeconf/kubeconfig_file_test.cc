#include "nodeconf/kubeconfig_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/result.h"

namespace mnet::nodeconf {
namespace {

using testing::HasSubstr;
using testing::Not;

Kubeconfig thin() {
  Kubeconfig config{.cluster = "local", .user = "multus", .context = "multus-context"};
  config.server = "https://10.96.0.1:443";
  config.ca = "PEM";
  config.token = "abc.def";
  return config;
}

TEST(KubeconfigText, HasOneClusterOneUserAndOneContext) {
  EXPECT_EQ(kubeconfig_text(thin()),
            R"(# Written by Multus and kept current; changes are overwritten.
apiVersion: v1
kind: Config
clusters:
- name: local
  cluster:
    server: "https://10.96.0.1:443"
    certificate-authority-data: UEVN
users:
- name: multus
  user:
    token: "abc.def"
contexts:
- name: multus-context
  context:
    cluster: local
    user: multus
current-context: multus-context
)");
}

TEST(KubeconfigText, InsecureMeansNoAuthority) {
  Kubeconfig config = thin();
  config.is_insecure = true;

  EXPECT_THAT(kubeconfig_text(config), HasSubstr("    insecure-skip-tls-verify: true\n"));
  EXPECT_THAT(kubeconfig_text(config), Not(HasSubstr("certificate-authority")));
}

TEST(KubeconfigText, NamesFilesAndWhatABootstrapAsksFor) {
  Kubeconfig config{.cluster = "c", .user = "u", .context = "x", .ns = "default"};
  config.client_certificate = config.client_key = "/d/multus-client-current.pem";
  config.tls_server_name = "kubernetes";
  config.proxy_url = "http://proxy:3128";

  const std::string text = kubeconfig_text(config);

  EXPECT_THAT(text, HasSubstr("    client-certificate: \"/d/multus-client-current.pem\"\n"
                              "    client-key: \"/d/multus-client-current.pem\"\n"));
  EXPECT_THAT(text, HasSubstr("    tls-server-name: \"kubernetes\"\n"));
  EXPECT_THAT(text, HasSubstr("    proxy-url: \"http://proxy:3128\"\n"));
  EXPECT_THAT(text, HasSubstr("    namespace: \"default\"\n"));
  EXPECT_THAT(text, Not(HasSubstr("token")));
}

TEST(KubeconfigText, QuotesWhateverStandsInAValue) {
  Kubeconfig config = thin();
  config.token = "a\"b\\c\nd: e";

  EXPECT_THAT(kubeconfig_text(config), HasSubstr("    token: \"a\\\"b\\\\c\\nd: e\"\n"));
}

// Pain 50.
TEST(ServiceUrl, PutsIpv6HostsInBrackets) {
  const auto url = [](std::string host) {
    return *service_url({"KUBERNETES_SERVICE_HOST=" + host, "KUBERNETES_SERVICE_PORT=443"});
  };

  EXPECT_EQ(url("10.96.0.1"), "https://10.96.0.1:443");
  EXPECT_EQ(url("kubernetes.default"), "https://kubernetes.default:443");
  EXPECT_EQ(url("fd00::1"), "https://[fd00::1]:443");
  EXPECT_EQ(url("[fd00::1]"), "https://[fd00::1]:443");
  EXPECT_EQ(url("fe80::1%eth0"), "https://[fe80::1%25eth0]:443");
}

TEST(ServiceUrl, TakesTheProtocolAndNamesWhatIsMissing) {
  EXPECT_EQ(*service_url({"KUBERNETES_SERVICE_HOST=h", "KUBERNETES_SERVICE_PORT=80",
                          "KUBERNETES_SERVICE_PROTOCOL=http"}),
            "http://h:80");
  EXPECT_THAT(service_url({"KUBERNETES_SERVICE_PORT=80"}).error().text(),
              HasSubstr("KUBERNETES_SERVICE_HOST"));
  EXPECT_THAT(service_url({"KUBERNETES_SERVICE_HOST=h", "KUBERNETES_SERVICE_PORT="}).error().text(),
              HasSubstr("KUBERNETES_SERVICE_PORT"));
}

}  // namespace
}  // namespace mnet::nodeconf
