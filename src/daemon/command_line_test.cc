#include "daemon/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "json/json.h"

namespace mnet::daemon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(CommandLine, HasDefaults) {
  const auto line = parse_command_line({});

  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->config_file, "/etc/cni/net.d/multus.d/daemon-config.json");
  EXPECT_FALSE(line->wants_version);
  EXPECT_TRUE(line->overrides.empty());
}

TEST(CommandLine, TakesEveryFormOfAFlag) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"-config", "/x"},
                                             {"--config", "/x"},
                                             {"-config=/x"},
                                             {"--config=/x", "rest", "-nosuch"}}) {
    const auto line = parse_command_line(words);
    ASSERT_TRUE(line.has_value());
    EXPECT_EQ(line->config_file, "/x");
  }
  EXPECT_TRUE(parse_command_line({"-version=t"})->wants_version);
  EXPECT_TRUE(parse_command_line({"--help"})->wants_help);
}

TEST(CommandLine, PrintsJsonOnlyWithCheck) {
  const auto line = parse_command_line({"-check", "-json"});

  ASSERT_TRUE(line.has_value());
  EXPECT_TRUE(line->wants_check && line->as_json);
  EXPECT_FALSE(parse_command_line({"-json"}).has_value());
}

TEST(CommandLine, PausesOnlyBehindUninstall) {
  const auto line = parse_command_line({"-uninstall", "-pause"});
  ASSERT_TRUE(line.has_value());
  EXPECT_TRUE(line->wants_uninstall);
  EXPECT_TRUE(line->pauses);
  EXPECT_FALSE(parse_command_line({"-pause"}).has_value());
}

TEST(CommandLine, TurnsLegacyFlagsIntoKeys) {
  const auto line = parse_command_line(
      {"-cni-conf-dir=/c", "-multus-log-to-stderr", "-multus-log-max-size", "7",
       "-multus-log-compress=false", "-namespace-isolation=true", "-socket-dir", "/s",
       "-multus-conf-file=auto", "-cni-bin-dir=/b", "-multus-bin-file=/f", "-metricsPort=9091"});

  ASSERT_TRUE(line.has_value()) << line.error().text();
  EXPECT_EQ(json::Value(line->overrides),
            *json::parse(R"({"cniConfigDir":"/c","logToStderr":true,"namespaceIsolation":true,
                "logOptions":{"maxSize":7,"compress":false},"daemonSocketDir":"/s",
                "multusConfigFile":"auto","metricsPort":9091})"));
  EXPECT_EQ(line->warnings.size(), 9u);
}

TEST(CommandLine, AcceptsEveryFlagOfTheThinEntrypointButTheEight) {
  for (const char* flag :
       {"-cni-bin-dir=x", "-cni-conf-dir=x", "-cni-version=1.0.0", "-multus-conf-file=auto",
        "-multus-bin-file=x", "-multus-cni-conf-dir=x", "-multus-master-cni-file-name=x",
        "-multus-autoconfig-dir=x", "-namespace-isolation", "-global-namespaces=a,b",
        "-multus-log-to-stderr=false", "-multus-log-level=debug", "-multus-log-file=x",
        "-override-network-name", "-skip-config-watch", "-readiness-indicator-file=x",
        "-skip-tls-verify", "-force-cni-version"}) {
    const auto line = parse_command_line({flag});
    ASSERT_TRUE(line.has_value()) << flag;
    EXPECT_EQ(line->warnings.size(), 1u) << flag;
  }
  EXPECT_TRUE(parse_command_line({"-multus-cni-conf-dir=/x"})->overrides.empty());
}

TEST(CommandLine, SaysOfAFlagWithoutEffectThatItHasNone) {
  for (const char* flag : {"-cni-bin-dir=x", "-multus-bin-file=x", "-multus-cni-conf-dir=x",
                           "-skip-config-watch", "-skip-tls-verify"}) {
    EXPECT_THAT(parse_command_line({flag})->warnings, ElementsAre(HasSubstr("has no effect")))
        << flag;
  }
  EXPECT_THAT(parse_command_line({"-cni-version=1.0.0"})->warnings,
              ElementsAre("the flag -cni-version is deprecated: set cniVersion in the "
                          "configuration"));
}

TEST(CommandLine, DoesNotCallMetricsPortLegacy) {
  EXPECT_THAT(parse_command_line({"-metricsPort", "1"})->warnings, IsEmpty());
}

TEST(CommandLine, RefusesFlagsThatNeverWereTheDaemons) {
  for (const char* flag : {"-additional-bin-dir=x", "-binDir=x", "-cleanup-config-on-exit",
                           "-cniDir=x", "-multus-kubeconfig-file-host=x", "-rename-conf-file",
                           "-restart-crio", "-skip-multus-binary-copy", "-nosuch"}) {
    const auto line = parse_command_line({flag});
    ASSERT_FALSE(line.has_value()) << flag;
    EXPECT_THAT(line.error().text(), HasSubstr("flag provided but not defined: -"));
  }
}

TEST(CommandLine, RefusesBadValues) {
  EXPECT_FALSE(parse_command_line({"-config"}).has_value());
  EXPECT_FALSE(parse_command_line({"-metricsPort=nine"}).has_value());
  EXPECT_FALSE(parse_command_line({"-namespace-isolation=maybe"}).has_value());
  EXPECT_FALSE(parse_command_line({"-probe=livez"}).has_value());
  EXPECT_EQ(parse_command_line({"-probe=readyz"})->probe, "readyz");
}

TEST(Usage, ListsTheFlags) {
  EXPECT_THAT(usage(), HasSubstr("-config string"));
  EXPECT_THAT(usage(), HasSubstr("-probe string"));
  EXPECT_THAT(usage(), Not(HasSubstr("multus-log-level")));
}

}  // namespace
}  // namespace mnet::daemon
