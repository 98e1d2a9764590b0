#include "nodeconf/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "json/json.h"
#include "nodeconf/primary.h"

namespace mnet::nodeconf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Primary primary(std::string_view text) { return {.object = json::parse_object(text).value()}; }

Settings version_040() {
  Settings settings;
  settings.cni_version = "0.4.0";
  return settings;
}

// 03, 12: row 124
TEST(Generate, WritesTheGoldenFile) {
  FromPrimary from;
  from.cluster_network = "/host/etc/cni/net.d/00-mycni.conf";
  EXPECT_EQ(generate(version_040(), from),
            R"({"cniVersion":"0.4.0","name":"multus-cni-network",)"
            R"("clusterNetwork":"/host/etc/cni/net.d/00-mycni.conf","type":"multus-shim"})");
}

// 03, 12: rows 124 and 166
TEST(Generate, WritesEveryOptionInTheOriginalsOrder) {
  Settings settings = version_040();
  settings.bin_dir = "/opt/bin";
  settings.capabilities = {{"z", true}, {"b", false}};
  settings.log_file = "/var/log/<m>.log";
  settings.log_level = "debug";
  settings.log_to_stderr = true;
  settings.log_options = json::Object{{"maxAge", 1}, {"compress", false}};
  settings.namespace_isolation = true;
  settings.global_namespaces = "default,infra";
  settings.cni_dir = "/x";
  settings.auxiliary_chain_name = "chain";
  settings.daemon_socket_dir = "/run/s";
  settings.override_network_name = true;
  settings.shim_timeout = 50;
  FromPrimary from;
  from.name = "n";
  from.cluster_network = "/p";
  from.capabilities = {{"a", true}, {"c", false}};

  EXPECT_EQ(generate(settings, from),
            R"({"binDir":"/opt/bin","capabilities":{"a":true,"b":false,"z":true},)"
            R"("cniVersion":"0.4.0","logFile":"/var/log/\u003cm\u003e.log","logLevel":"debug",)"
            R"("logToStderr":true,"logOptions":{"maxAge":1,"compress":false},"name":"n",)"
            R"("clusterNetwork":"/p","namespaceIsolation":true,"globalNamespaces":"default,infra",)"
            R"("type":"multus-shim","cniDir":"/x","auxiliaryCNIChainName":"chain",)"
            R"("daemonSocketDir":"/run/s","overrideNetworkName":true,"shimTimeout":50})");
}

TEST(Generate, KeepsEmptyLogOptions) {
  Settings settings = version_040();
  settings.log_options.emplace();
  EXPECT_THAT(generate(settings, {}), HasSubstr(R"("logOptions":{})"));
}

// 03, 12: row 126
TEST(Generator, WorksCapabilitiesOutAnewEachTime) {
  Settings settings = version_040();
  settings.capabilities = {{"own", false}, {"off", false}};
  Generator generator(settings);

  const auto first =
      generator.output("/p", primary(R"({"capabilities": {"own": true, "x": true, "y": false}})"));
  const auto second = generator.output("/p", primary(R"({"capabilities": {"x": 7}})"));

  ASSERT_TRUE(first.has_value());
  EXPECT_THAT(first->text, HasSubstr(R"("capabilities":{"off":false,"own":true,"x":true})"));
  EXPECT_THAT(first->warnings, IsEmpty());
  ASSERT_TRUE(second.has_value());
  EXPECT_THAT(second->text, HasSubstr(R"("capabilities":{"off":false,"own":false})"));
  EXPECT_THAT(second->warnings, ElementsAre("/p: capabilities.x is a number; ignored"));
}

// 03, 12: row 132
TEST(Generator, FollowsThePrimarysNameAndKeepsTheLastGoodOne) {
  Settings settings = version_040();
  settings.override_network_name = true;
  Generator generator(settings);

  const auto x = generator.output("/p", primary(R"({"name": "x"})"));
  const auto y = generator.output("/p", primary(R"({"name": "y"})"));
  const auto lost = generator.output("/p", primary(R"({"name": 7})"));

  EXPECT_THAT(x.value().text, HasSubstr(R"("name":"x")"));
  EXPECT_THAT(y.value().text, HasSubstr(R"("name":"y")"));
  EXPECT_THAT(lost.value().text, HasSubstr(R"("name":"y")"));
  EXPECT_THAT(lost.value().warnings, ElementsAre(HasSubstr("the name stays y")));
}

// 03, 12: row 132
TEST(Generator, RefusesAPrimaryWithoutANameThatItShallTakeOver) {
  Settings settings = version_040();
  settings.override_network_name = true;
  const auto none = Generator(settings).output("/p", primary(R"({"name": 7})"));
  ASSERT_FALSE(none.has_value());
  EXPECT_THAT(none.error().text(), HasSubstr("could not override the network name: "));
}

// Pain 27
TEST(Generator, SaysThatAnOlderPrimaryIsConverted) {
  Primary older = primary(R"({"type": "a"})");
  older.is_older = true;
  const auto output = Generator(version_040()).output("/p", older);
  ASSERT_TRUE(output.has_value());
  EXPECT_THAT(output->warnings, ElementsAre(HasSubstr("/p has a cniVersion below 0.4.0")));
}

}  // namespace
}  // namespace mnet::nodeconf
