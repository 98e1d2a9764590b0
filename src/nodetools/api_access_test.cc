#include "nodetools/api_access.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/text.h"
#include "sys/test_dir.h"

namespace mnet::nodetools {
namespace {

class AccessOf : public testing::Test {
 protected:
  AccessOf() { options.account_directory = dir / "account"; }

  std::string kubeconfig(std::string_view name, std::string_view server, std::string_view ns = "") {
    const std::string more = ns.empty() ? "" : cat(", namespace: ", ns);
    return dir.write(name,
                     cat("current-context: c\nclusters: [{name: k, cluster: {server: '", server,
                         "'}}]\ncontexts: [{name: c, context: {cluster: k", more, "}}]\n"));
  }
  void live_in_a_pod() {
    dir.write("account/token", "t");
    dir.write("account/namespace", "account-ns\n");
    options.environment.insert(options.environment.end(),
                               {"KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERNETES_SERVICE_PORT=443"});
  }
  std::string server() { return find_api_access(options).value().config.server; }
  std::string ns() { return find_api_access(options).value().ns; }

  sys::TestDir dir;
  AccessOptions options;
};

// 04, 4: row 112.
TEST_F(AccessOf, AKubeconfigWinsOverThePod) {
  live_in_a_pod();
  EXPECT_EQ(server(), "https://10.0.0.1:443");

  options.environment.push_back(
      cat("KUBECONFIG=", dir / "missing", ":", kubeconfig("k", "https://k:1")));
  EXPECT_EQ(server(), "https://k:1");

  options.kubeconfig = kubeconfig("given", "https://given:1");
  EXPECT_EQ(server(), "https://given:1");
}

TEST_F(AccessOf, AListOfKubeconfigsIsMergedAsKubectlDoes) {
  const std::string first = dir.write("first", "current-context: second\n");
  const std::string second = dir.write(
      "second",
      "current-context: none\nclusters: [{name: k, cluster: {server: 'https://second:1'}}]\n"
      "contexts: [{name: second, context: {cluster: k, namespace: second-ns}}]\n");
  options.environment.push_back(cat("KUBECONFIG=", first, ":", dir / "missing", "::", second));

  EXPECT_EQ(server(), "https://second:1");
  EXPECT_EQ(ns(), "second-ns");
}

TEST_F(AccessOf, AListOfMissingFilesMeansThePod) {
  live_in_a_pod();
  kubeconfig("home/.kube/config", "https://home:1");
  options.environment.push_back(cat("HOME=", dir / "home"));
  EXPECT_EQ(server(), "https://home:1");

  options.environment.push_back(cat("KUBECONFIG=", dir / "missing"));
  EXPECT_EQ(server(), "https://10.0.0.1:443");
}

TEST_F(AccessOf, NothingIsAnErrorThatSaysSo) {
  const auto access = find_api_access(options);

  ASSERT_FALSE(access.has_value());
  EXPECT_EQ(access.error().text(), "no Kubernetes API access configured");
}

// 04, 4: row 112.
TEST_F(AccessOf, TheDefaultNamespaceIsTheFirstThatIsNamed) {
  live_in_a_pod();
  EXPECT_EQ(ns(), "account-ns");

  options.environment.push_back("POD_NAMESPACE=x");
  EXPECT_EQ(ns(), "x");

  options.kubeconfig = kubeconfig("k", "https://k:1", "context-ns");
  EXPECT_EQ(ns(), "context-ns");

  options.ns = "given";
  EXPECT_EQ(ns(), "given");
}

TEST_F(AccessOf, WithoutAnyNameTheNamespaceIsDefault) {
  options.kubeconfig = kubeconfig("k", "https://k:1");
  EXPECT_EQ(ns(), "default");
}

}  // namespace
}  // namespace mnet::nodetools
