#include "settings/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/json.h"
#include "model/reconcile_mode.h"
#include "sys/test_dir.h"

namespace mnet::settings {
namespace {

using testing::HasSubstr;

TEST(ParseConfig, HasTheDefaultsOfTheSpecification) {
  const auto config = parse_config("{}");

  ASSERT_TRUE(config.has_value()) << config.error().text();
  EXPECT_EQ(config->socket_dir, "/run/multus/");
  EXPECT_EQ(config->chroot_dir, "");
  EXPECT_EQ(config->multus_config_file, "auto");
  EXPECT_TRUE(config->is_automatic());
  EXPECT_EQ(config->cni_config_dir, "/etc/cni/net.d");
  EXPECT_EQ(config->type, "multus-shim");
  EXPECT_EQ(config->log_to_stderr, std::nullopt);
  EXPECT_EQ(config->connection_limit, std::nullopt);
  EXPECT_EQ(config->metrics_port, std::nullopt);
  EXPECT_EQ(config->per_node_certificate.has_value(), false);
  EXPECT_EQ(config->max_request_bytes, 16777216);
  EXPECT_EQ(config->delegate_timeout.count(), 180);
  EXPECT_EQ(config->reconcile, model::ReconcileMode::kOn);
  EXPECT_EQ(config->reconcile_grace, std::chrono::minutes(10));
  EXPECT_EQ(config->max_delegates, std::nullopt);
}

TEST(ParseConfig, ReadsKeysInAnyLetterCaseAndIgnoresUnknownOnes) {
  const auto config = parse_config(
      R"({"SOCKETDIR":"/a","readinessIndicatorFile":"/b","logoptions":{"MAXSIZE":7,"x":1},"y":[]})");

  ASSERT_TRUE(config.has_value()) << config.error().text();
  EXPECT_EQ(config->socket_dir, "/a");
  EXPECT_EQ(config->readiness_indicator_file, "/b");
  EXPECT_EQ(config->log_options->max_size, 7);
  EXPECT_EQ(config->log_options->max_age, std::nullopt);
}

TEST(ParseConfig, TakesNullForTheDefault) {
  const auto config = parse_config(
      R"({"socketDir":null,"connectionLimit":null,"metricsPort":null,"perNodeCertificate":null,
          "maxDelegates":null,"logToStderr":null,"capabilities":null,"maxRequestBytes":null,
          "shimTimeout":null,"delegates":null,"runtimeConfig":null,"parallelAttach":null})");

  ASSERT_TRUE(config.has_value()) << config.error().text();
  EXPECT_EQ(config->socket_dir, "/run/multus/");
  EXPECT_EQ(config->connection_limit, std::nullopt);
  EXPECT_EQ(config->max_delegates, std::nullopt);
  EXPECT_EQ(config->max_request_bytes, 16777216);
}

// 05, 4: rows 14 and 15
TEST(ParseConfig, TurnsHotplugOnByTrueOrAnObject) {
  const auto hotplug_of = [](std::string_view text) { return parse_config(text)->hotplug; };

  EXPECT_FALSE(hotplug_of("{}").is_enabled);
  EXPECT_FALSE(hotplug_of(R"({"hotplug":false})").is_enabled);
  EXPECT_FALSE(hotplug_of(R"({"hotplug":{"enabled":false}})").is_enabled);
  EXPECT_TRUE(hotplug_of(R"({"hotplug":true})").is_enabled);
  EXPECT_TRUE(hotplug_of(R"({"hotplug":{}})").is_enabled);
  EXPECT_EQ(hotplug_of(R"({"hotplug":true})").workers, 4);

  const auto all =
      hotplug_of(R"({"hotplug":{"workers":2,"retryInitial":"500ms","retryMax":"1m","resync":"0",)"
                 R"("namespaces":["a"],"onAttributeChange":"replace"}})");
  EXPECT_EQ(all.workers, 2);
  EXPECT_EQ(all.retry_initial, std::chrono::milliseconds(500));
  EXPECT_EQ(all.retry_max, std::chrono::minutes(1));
  EXPECT_EQ(all.resync.count(), 0);
  EXPECT_TRUE(all.includes("a"));
  EXPECT_FALSE(all.includes("b"));
  EXPECT_TRUE(all.replaces_on_change);
}

TEST(ParseConfig, WarnsOfMembersOfHotplugThatDoNotExist) {
  EXPECT_THAT(parse_config(R"({"hotplug":{"worker":2}})")->warnings,
              testing::ElementsAre("hotplug: unknown member \"worker\" has no effect"));
}

TEST(ParseConfig, NamesTheKeyOfAWrongType) {
  for (const auto& [text, key] : std::vector<std::pair<std::string, std::string>>{
           {R"({"connectionLimit":1.5})", "connectionLimit"},
           {R"({"connectionLimit":1e1})", "connectionLimit"},
           {R"({"logToStderr":1})", "logToStderr"},
           {R"({"socketDir":5})", "socketDir"},
           {R"({"perNodeCertificate":{"enabled":"yes"}})", "perNodeCertificate.enabled"},
           {R"({"perNodeCertificate":[]})", "perNodeCertificate"},
           {R"({"logOptions":{"maxAge":"5"}})", "logOptions.maxAge"},
           {R"({"capabilities":{"portMappings":1}})", "capabilities.portMappings"},
           {R"({"forceCNIVersion":"true"})", "forceCNIVersion"},
           {R"({"globalNamespaces":["a"]})", "globalNamespaces"},
           {R"({"podLookupTimeout":-1})", "podLookupTimeout"},
           {R"({"podLookupTimeout":"2s"})", "podLookupTimeout"},
           {R"({"parallelAttach":"yes"})", "parallelAttach"},
           {R"({"allowedPluginTypes":"bridge"})", "allowedPluginTypes"},
           {R"({"defaultNetworkNamespaces":[5]})", "defaultNetworkNamespaces"},
           {R"({"maxDelegates":0})", "maxDelegates"},
           {R"({"delegateTimeout":0})", "delegateTimeout"},
           {R"({"reconcile":"sometimes"})",
            "reconcile: must be off, report or on, not \"sometimes\""},
           {R"({"reconcile":true})", "reconcile"},
           {R"({"reconcileGrace":0})", "reconcileGrace"},
           {R"({"hotplug":"yes"})", "hotplug: expected a boolean"},  // 05, 4: row 15
           {R"({"hotplug":{"workers":0}})", "hotplug.workers: must be from 1 to 64, got 0"},
           {R"({"hotplug":{"workers":65}})", "hotplug.workers"},
           {R"({"hotplug":{"retryInitial":"soon"}})",
            "hotplug.retryInitial: time: invalid duration \"soon\""},
           {R"({"hotplug":{"retryMax":"0"}})", "hotplug.retryMax"},
           {R"({"hotplug":{"resync":"-1s"}})", "hotplug.resync"},
           {R"({"hotplug":{"namespaces":"a"}})", "hotplug.namespaces"},
           {R"({"hotplug":{"onAttributeChange":"panic"}})", "hotplug.onAttributeChange"},
           {R"({"maxRequestBytes":-5})", "maxRequestBytes"},
           {R"({"logFormat":"xml"})", "logFormat"},
           {R"({"shimTimeout":-5})", "shimTimeout"},
           {R"({"shimTimeout":0})", "shimTimeout"},
           // Only requests use these: each would fail.
           {R"({"kubeconfig":5})", "kubeconfig"},
           {R"({"retryDeleteOnError":"true"})", "retryDeleteOnError"},
           {R"({"defaultNetworks":"a"})", "defaultNetworks"},
           {R"({"delegates":{}})", "delegates"},
           {R"({"delegates":["a"]})", "delegates[0]"},
           {R"({"systemNamespaces":"a"})", "systemNamespaces"},
           {R"({"multusNamespace":[]})", "multusNamespace"},
           {R"({"confDir":true})", "confDir"},
           {R"({"runtimeConfig":{"ips":"a"}})", "runtimeConfig.ips"},
           {R"({"dns":5})", "dns"},
       }) {
    const auto config = parse_config(text);
    ASSERT_FALSE(config.has_value()) << text;
    EXPECT_THAT(config.error().text(),
                testing::StartsWith(cat("failed to unmarshall the daemon configuration: ", key)))
        << text;
  }
}

TEST(ParseConfig, RefusesWhatIsNoObject) {
  for (const char* text : {"", "{", "[]", "null", "{} {}", "{\"a\":1,}"}) {
    const auto config = parse_config(text);
    ASSERT_FALSE(config.has_value()) << text;
    EXPECT_THAT(config.error().text(), HasSubstr("failed to unmarshall the daemon configuration"));
  }
}

TEST(ParseConfig, KeepsTheWholeDocumentForTheOverlay) {
  const auto config = parse_config(R"({"binDir":"/b","unknown":{"n":9007199254740993},"x":null})");

  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(json::dump(config->document),
            R"({"binDir":"/b","unknown":{"n":9007199254740993},"x":null})");
}

TEST(LoadConfig, NamesTheFile) {
  const sys::TestDir dir;
  const std::string broken = dir.write("broken.json", "{");
  const std::string wrong = dir.write("wrong.json", R"({"connectionLimit":"9"})");

  for (const std::string& path : {broken, wrong, dir / "missing.json", dir.path()}) {
    const auto config = load_config(path, {});
    ASSERT_FALSE(config.has_value()) << path;
    EXPECT_THAT(config.error().text(), HasSubstr(path));
  }
}

TEST(LoadConfig, LaysFlagsOverKeysInWhateverLetterCaseTheyAreWritten) {
  const sys::TestDir dir;
  const std::string path = dir.write(
      "c.json", R"({"LOGLEVEL":"debug","logLevel":"error","LogOptions":{"maxAge":1,"maxSize":2}})");
  json::Object overrides = {
      {"logLevel", "verbose"}, {"logOptions", json::Object{{"maxSize", 3}}}, {"metricsPort", 9091}};

  const auto config = load_config(path, overrides);

  ASSERT_TRUE(config.has_value()) << config.error().text();
  EXPECT_EQ(config->log_level, "verbose");
  EXPECT_EQ(config->log_options->max_age, 1);
  EXPECT_EQ(config->log_options->max_size, 3);
  EXPECT_EQ(config->metrics_port, 9091);
  EXPECT_EQ(config->document.find("LOGLEVEL"), nullptr);
}

TEST(CheckConnectionLimit, RefusesWhatLetsNobodyThrough) {
  for (const char* limit : {"0", "-1"}) {
    const auto config = parse_config(cat(R"({"connectionLimit":)", limit, "}"));
    ASSERT_TRUE(config.has_value());
    const auto checked = check_connection_limit(*config);
    ASSERT_FALSE(checked.has_value());
    EXPECT_EQ(checked.error().text(), cat("connection limit must be greater than 0, got ", limit));
  }
  EXPECT_TRUE(check_connection_limit(*parse_config(R"({"connectionLimit":1})")).has_value());
  EXPECT_TRUE(check_connection_limit(*parse_config("{}")).has_value());
}

}  // namespace
}  // namespace mnet::settings
