#include "model/netconf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"

namespace mnet::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::string kDelegates = R"("delegates":[{"name":"a","type":"fake"}])";

Result<NetConf> load(const std::string& members, PrevResult prev_result = PrevResult::kRead) {
  MNET_TRY(auto&& document, parse_netconf("{" + members + "}"));
  return read_netconf(std::move(document), prev_result);
}
NetConf load_for_del(const std::string& members) {
  return read_netconf_for_del(*parse_netconf("{" + members + "}"));
}
std::string error_of(const std::string& members) {
  auto conf = load(members);
  return conf ? "no error" : conf.error().text();
}

TEST(NetConf, KnowsEveryDefault) {
  auto conf = load(kDelegates);

  ASSERT_TRUE(conf);
  EXPECT_EQ(conf->conf_dir, "/etc/cni/multus/net.d");
  EXPECT_EQ(conf->cni_dir, "/var/lib/cni/multus");
  EXPECT_EQ(conf->bin_dir, "/opt/cni/bin");
  EXPECT_EQ(conf->multus_namespace, "kube-system");
  EXPECT_THAT(conf->system_namespaces, ElementsAre("kube-system"));
  EXPECT_THAT(conf->non_isolated_namespaces, ElementsAre("default"));
  EXPECT_TRUE(conf->log_to_stderr);
  EXPECT_EQ(conf->pod_lookup_timeout, std::chrono::milliseconds(2500));
  EXPECT_FALSE(conf->valid_attachments);
}

TEST(NetConf, TakesAnEmptyDirectoryForTheDefault) {
  auto conf = load(R"("binDir":"","cniDir":"","confDir":null,)" + kDelegates);
  EXPECT_EQ(conf->bin_dir, "/opt/cni/bin");
  EXPECT_EQ(conf->cni_dir, "/var/lib/cni/multus");
  EXPECT_EQ(conf->conf_dir, "/etc/cni/multus/net.d");
}

TEST(NetConf, FindsKeysInAnySpellingAndTakesTheLastOne) {
  EXPECT_EQ(load(R"("ReadinessIndicatorFile":"/f",)" + kDelegates)->readiness_indicator_file, "/f");
  EXPECT_EQ(load(R"("cnidir":"/a","cniDir":"/b",)" + kDelegates)->cni_dir, "/b");
  EXPECT_EQ(load(R"("cniDir":"/a","cnidir":"/b",)" + kDelegates)->cni_dir, "/b");
}

// 02, 12: rows 12, 13
TEST(NetConf, ReplacesTheListsOfNamespaces) {
  auto conf = load(R"("globalNamespaces":" foo,bar ,default","systemNamespaces":[],)" + kDelegates);
  EXPECT_THAT(conf->non_isolated_namespaces, ElementsAre("foo", "bar", "default"));
  EXPECT_THAT(conf->system_namespaces, IsEmpty());
}

// A list that was copied from a page has no-break spaces in it.
TEST(NetConf, TakesAllWhiteSpaceOffNamespaces) {
  auto conf =
      load("\"globalNamespaces\":\"\u00a0 foo\u2028,\u3000\u00a0bar \u202f\"," + kDelegates);
  ASSERT_TRUE(conf);
  EXPECT_THAT(conf->non_isolated_namespaces, ElementsAre("foo", "bar"));
}

// Here as everywhere; to Go it is an empty list.
TEST(NetConf, TakesNullForAnAbsentListOfNamespaces) {
  EXPECT_THAT(load(R"("systemNamespaces":null,)" + kDelegates)->system_namespaces,
              ElementsAre("kube-system"));
}

TEST(NetConf, LimitsWhatPodsSelectOnlyIfItSaysSo) {
  auto conf = load(R"("defaultNetworkNamespaces":["net"],"allowedPluginTypes":[],)" + kDelegates);
  ASSERT_TRUE(conf);
  EXPECT_THAT(conf->default_network_namespaces, testing::Optional(ElementsAre("net")));
  EXPECT_THAT(conf->allowed_plugin_types, testing::Optional(IsEmpty()));

  conf = load(R"("defaultNetworkNamespaces":null,)" + kDelegates);
  ASSERT_TRUE(conf);
  EXPECT_FALSE(conf->default_network_namespaces);
  EXPECT_FALSE(conf->allowed_plugin_types);
}

// 02, 12: rows 1 to 5, 11
TEST(NetConf, NamesWhatIsWrong) {
  EXPECT_THAT(parse_netconf("{").error().text(), HasSubstr("failed to load netconf"));
  EXPECT_THAT(parse_netconf("null").error().text(), HasSubstr("failed to load netconf"));
  EXPECT_THAT(parse_netconf("{} x").error().text(), HasSubstr("failed to load netconf"));
  EXPECT_THAT(error_of(R"("allowedPluginTypes":"bridge",)" + kDelegates),
              HasSubstr("allowedPluginTypes: expected a list of strings"));
  EXPECT_THAT(error_of(R"("delegates":[])"), HasSubstr("at least one delegate/clusterNetwork"));
  EXPECT_THAT(error_of(R"("delegates":[5])"), HasSubstr("failed to load netconf: delegates[0]"));
  EXPECT_THAT(
      error_of(R"("delegates":[{"type":"a"},{"_not_type":"x"}])"),
      HasSubstr("failed to load delegate 1 config: delegate must have the 'type' or 'plugin'"));
  EXPECT_THAT(error_of(R"("capabilities":{"x":"yes"},)" + kDelegates),
              HasSubstr("failed to load netconf: capabilities.x"));
  EXPECT_THAT(error_of(R"("runtimeConfig":{"portMappings":[{"hostPort":8080.0}]},)" + kDelegates),
              HasSubstr("runtimeConfig.portMappings[0].hostPort"));
  EXPECT_THAT(error_of(R"("retryDeleteOnError":"true",)" + kDelegates),
              HasSubstr("retryDeleteOnError"));
  EXPECT_THAT(error_of(R"("cni.dev/valid-attachments":[{"containerID":5}],)" + kDelegates),
              HasSubstr("cni.dev/valid-attachments[0].containerID"));
  EXPECT_THAT(error_of(R"("podLookupTimeout":-1,)" + kDelegates), HasSubstr("podLookupTimeout"));
  EXPECT_THAT(error_of(R"("podLookupTimeout":"1",)" + kDelegates), HasSubstr("podLookupTimeout"));
}

TEST(NetConf, ReadsFractionsOfASecond) {
  EXPECT_EQ(load(R"("podLookupTimeout":0.25,)" + kDelegates)->pod_lookup_timeout,
            std::chrono::milliseconds(250));
  EXPECT_EQ(load(R"("podLookupTimeout":1e300,)" + kDelegates)->pod_lookup_timeout,
            std::chrono::hours(24));
}

// 00-index, "parallelAttach"
TEST(NetConf, KnowsThreeWaysToAttach) {
  EXPECT_EQ(load(kDelegates)->parallel_attach, ParallelAttach::kSafe);
  EXPECT_EQ(load(R"("parallelAttach":"off",)" + kDelegates)->parallel_attach, ParallelAttach::kOff);
  EXPECT_EQ(load(R"("parallelAttach":"all",)" + kDelegates)->parallel_attach, ParallelAttach::kAll);
  for (const std::string wrong : {R"("")", R"("Safe")", "true"}) {
    EXPECT_THAT(error_of(cat(R"("parallelAttach":)", wrong, ",", kDelegates)),
                HasSubstr("parallelAttach"));
  }
}

TEST(NetConf, RefusesWhatIsTooLarge) {
  const std::string large = R"("x":")" + std::string(kMaxNetConf, 'a') + R"(",)";
  EXPECT_THAT(error_of(large + kDelegates), HasSubstr("failed to load netconf: larger than"));
}

// 02, 12: rows 14, 15
TEST(NetConf, ReadsThePreviousResultOnlyIfAsked) {
  EXPECT_TRUE(
      load(R"("prevResult":{"ips":[{"version":"4","address":"10.0.0.5/32"}]},)" + kDelegates));
  const std::string garbage = R"("PrevResult":5,)" + kDelegates;
  EXPECT_FALSE(load(garbage));
  EXPECT_TRUE(load(garbage, PrevResult::kIgnored));
}

TEST(NetConf, KnowsWhatACheckMakesOfNetworks) {
  EXPECT_FALSE(load(R"("checkNetworks":null,)" + kDelegates)->check_networks);
  EXPECT_EQ(load(R"("checkNetworks":"all",)" + kDelegates)->check_networks, CheckNetworks::kAll);
  EXPECT_EQ(load(R"("checkNetworks":"primary",)" + kDelegates)->check_networks,
            CheckNetworks::kPrimary);
  EXPECT_EQ(load(R"("checkNetworks":"report",)" + kDelegates)->check_networks,
            CheckNetworks::kReport);
  EXPECT_THAT(error_of(R"("checkNetworks":"none",)" + kDelegates),
              HasSubstr("checkNetworks: must be all, primary or report"));
}

TEST(NetConfForDel, HasNoFaultWhereAddHasNone) {
  EXPECT_FALSE(load_for_del(R"("prevResult":"any",)" + kDelegates).fault);
  EXPECT_FALSE(load_for_del(R"("clusterNetwork":"c","delegates":[{}])").fault);
}

TEST(NetConfForDel, DoesWithoutDelegatesThatCannotBeUsed) {
  for (const char* delegates : {R"([{"type":"a"},{}])", "5", "[5]", "[]"}) {
    const NetConf conf = load_for_del(cat(R"("retryDeleteOnError":true,"delegates":)", delegates));

    EXPECT_TRUE(conf.fault) << delegates;
    EXPECT_THAT(conf.delegates, IsEmpty());
    EXPECT_TRUE(conf.retry_delete_on_error);
  }
}

TEST(NetConfForDel, ReadsEveryKeyThatCanBeRead) {
  for (const char* wrong :
       {R"("parallelAttach":"maybe")", R"("capabilities":"all")", R"("podLookupTimeout":-1)",
        R"("systemNamespaces":5)", R"("runtimeConfig":{"ips":7})", R"("logOptions":[])"}) {
    const NetConf conf = load_for_del(
        cat(R"("cniDir":"/d",)", wrong, ",", kDelegates, R"(,"binDir":"/b","confDir":5)"));

    ASSERT_TRUE(conf.fault) << wrong;
    EXPECT_THAT(conf.fault->text(), HasSubstr("failed to load netconf: "));
    EXPECT_EQ(conf.cni_dir, "/d");
    EXPECT_EQ(conf.bin_dir, "/b");
    EXPECT_EQ(conf.conf_dir, "/etc/cni/multus/net.d");
    EXPECT_EQ(conf.delegates.size(), 1u);
  }
}

TEST(Settings, NeedNoNetworksButEveryKeyHasTheRightType) {
  EXPECT_TRUE(read_settings(*json::parse_object(R"({"delegates":[],"kubeconfig":null})")));
  for (const char* key : {"kubeconfig", "retryDeleteOnError", "defaultNetworks", "delegates",
                          "systemNamespaces", "multusNamespace", "confDir", "runtimeConfig"}) {
    const auto settings = read_settings(*json::parse_object(cat("{\"", key, "\":5}")));

    ASSERT_FALSE(settings) << key;
    EXPECT_THAT(settings.error().text(), StartsWith(cat(key, ": ")));
  }
}

TEST(NetConf, TellsAnAbsentListOfAttachmentsFromAnEmptyOne) {
  EXPECT_TRUE(load(R"("cni.dev/valid-attachments":null,)" + kDelegates)->valid_attachments);
  auto both = load(
      R"("cni.dev/attachments":[{"containerID":"x","ifname":"y"}],"cni.dev/valid-attachments":[],)" +
      kDelegates);
  EXPECT_THAT(*both->valid_attachments, IsEmpty());
}

TEST(NetConf, KeepsTheDelegatesText) {
  auto conf = load(R"("delegates":[{"type":"t","name":"n","big":9223372036854775807,"f":1.50}])");
  EXPECT_EQ(conf->delegates[0].bytes,
            R"({"type":"t","name":"n","big":9223372036854775807,"f":1.50})");
  EXPECT_TRUE(conf->delegates[0].is_master);
}

}  // namespace
}  // namespace mnet::model
