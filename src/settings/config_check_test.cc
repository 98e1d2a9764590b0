#include "settings/config_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "settings/config.h"
#include "sys/test_dir.h"

namespace mnet::settings {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::vector<std::string> warnings_of(const std::string& text) {
  const auto config = parse_config(text);
  EXPECT_TRUE(config.has_value()) << config.error().text();
  return config ? config_warnings(*config) : std::vector<std::string>();
}

TEST(CheckSurroundings, RefusesARootThatIsNotThere) {
  const sys::TestDir dir;
  const std::string file = dir.write("file", "");
  for (const auto& [key, path] : std::vector<std::pair<std::string, std::string>>{
           {"chrootDir", dir / "missing"},
           {"chrootDir", file},
           {"delegateMountNamespace", dir / "missing"}}) {
    const std::string at = dir.write("c.json", cat("{\"", key, "\":\"", path, "\"}"));
    const auto checked = check_surroundings(*load_config(at, {}));

    ASSERT_FALSE(checked.has_value()) << key << " " << path;
    EXPECT_THAT(checked.error().text(), AllOf(StartsWith(cat(at, ": ", key)), HasSubstr(path)));
  }
  EXPECT_TRUE(check_surroundings(*parse_config(R"({"chrootDir":"/"})")).has_value());
  EXPECT_TRUE(check_surroundings(*parse_config("{}")).has_value());
}

// 05, 4: row 16
TEST(CheckSurroundings, RefusesHotplugWithoutTheNodesNameUnlessThereIsAFolder) {
  const Config config = *parse_config(R"({"hotplug":true})");

  const auto checked = check_surroundings(config, {});

  ASSERT_FALSE(checked.has_value());
  EXPECT_THAT(checked.error().text(), HasSubstr("hotplug: this node's name is unknown"));
  EXPECT_TRUE(check_surroundings(config, {"MULTUS_NODE_NAME=node1"}).has_value());
  EXPECT_TRUE(check_surroundings(*parse_config(R"({"hotplug":true,"objectsDir":"/o"})"), {}));
  EXPECT_TRUE(check_surroundings(*parse_config(R"({"hotplug":false})"), {}).has_value());
}

TEST(ConfigWarnings, AreNoneForTheManifestsConfiguration) {
  EXPECT_THAT(warnings_of("{}"), IsEmpty());
  EXPECT_THAT(
      warnings_of(
          R"({"chrootDir":"/hostroot","cniVersion":"0.3.1","cniConfigDir":"/host/etc/cni/net.d",
              "multusAutoconfigDir":"/host/etc/cni/net.d","multusConfigFile":"auto",
              "socketDir":"/host/run/multus/","logLevel":"verbose","logToStderr":true,
              "metricsPort":9091,"perNodeCertificate":{"enabled":false}})"),
      IsEmpty());
}

TEST(ConfigWarnings, TellOfASocketThatTheShimWillNotFind) {
  EXPECT_THAT(warnings_of(R"({"socketDir":"/srv/m"})"),
              ElementsAre(AllOf(StartsWith("socketDir: "), HasSubstr("daemonSocketDir"))));
  EXPECT_THAT(warnings_of(R"({"socketDir":"/host/srv/m","daemonSocketDir":"/srv/m/"})"), IsEmpty());
}

TEST(ConfigWarnings, TellOfACacheThatTheRuntimeUses) {
  EXPECT_THAT(warnings_of(R"({"cniDir":"/var/lib/cni/"})"), ElementsAre(StartsWith("cniDir: ")));
  EXPECT_THAT(warnings_of(R"({"cniDir":"/var/lib/cni/multus"})"), IsEmpty());
}

// 03, 2.3: never fatal; and a port that cannot be read never opens one on all addresses.
TEST(ConfigWarnings, TellOfMetricsThatCannotBe) {
  for (const char* text :
       {R"({"metricsPort":"9"})", R"({"metricsPort":70000})", R"({"metricsPort":-1})",
        R"({"metricsPort":9,"metricsAddress":"lo"})", R"({"metricsPort":9,"metricsAddress":7})",
        R"({"metricsPort":9,"enablePprof":"yes"})"}) {
    EXPECT_THAT(warnings_of(text), ElementsAre(HasSubstr("there are no metrics"))) << text;
    EXPECT_FALSE(parse_config(text)->metrics_port) << text;
  }
}

TEST(ConfigWarnings, TellOfEveryKeyWithoutEffect) {
  for (const char* text :
       {R"({"perNodeCertificate":{"enabled":true},"objectsDir":"/o"})",
        R"({"perNodeCertificate":{"certDir":"/c"}})", R"({"kubeconfig":"/k","objectsDir":"/o"})",
        R"({"enablePprof":true})", R"({"metricsAddress":"::1"})",
        R"({"chrootDir":"/","delegateMountNamespace":"/proc/1/ns/mnt"})",
        R"({"forceCNIVersion":true,"multusConfigFile":"/f"})", R"({"logOptions":{}})",
        R"({"delegates":[{}]})", R"({"allowTryDeleteOnErr":true})"}) {
    EXPECT_THAT(warnings_of(text), ElementsAre(HasSubstr("has no effect: "))) << text;
  }
  EXPECT_THAT(warnings_of(R"({"delegates":[{}],"multusConfigFile":"/f"})"),
              ElementsAre(StartsWith("delegates: delegate must have")));
}

TEST(ConfigWarnings, TakeNullForAbsent) {
  EXPECT_THAT(warnings_of(R"({"enablePprof":null,"kubeconfig":null,"objectsDir":"/o",
                              "logOptions":null,"metricsPort":null,"delegates":null})"),
              IsEmpty());
}

}  // namespace
}  // namespace mnet::settings
