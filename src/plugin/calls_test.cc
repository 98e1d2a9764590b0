#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "base/text.h"
#include "json/json.h"
#include "plugin/plugin.h"
#include "plugin/plugin_fixture.h"

namespace mnet::plugin {
namespace {

using testing::Contains;
using testing::ElementsAre;

using PluginVersions = PluginTest;
using PluginDelegate = PluginTest;

// Row I21.
TEST_F(PluginVersions, AreAskedForAsOldPluginsExpectIt) {
  auto versions =
      aio::run(fetch_versions(call(fake(R"({"record":")" + (dir / "record") + R"("})"))));

  EXPECT_EQ(versions.value().size(), 7u);
  const json::Object seen = calls().at(0);
  const json::Array& env = *seen.find("env")->as_array();
  for (const char* entry : {"CNI_COMMAND=VERSION", "CNI_CONTAINERID=", "CNI_ARGS=",
                            "CNI_NETNS=dummy", "CNI_IFNAME=dummy", "CNI_PATH=dummy"}) {
    EXPECT_THAT(env, Contains(json::Value(entry)));
  }
  EXPECT_EQ(*seen.find("stdin"), json::Value(to_base64(R"({"cniVersion":"1.1.0"})")));
}

// Row I22.
TEST_F(PluginVersions, AreReadFromOldAndBrokenReplies) {
  auto reply = [this](std::string text) {
    const std::string orders =
        json::dump(json::Object{{"VERSION", json::Object{{"stdout", std::move(text)}}}});
    return aio::run(fetch_versions(call(fake(orders))));
  };

  EXPECT_THAT(reply(R"({"cniVersion":"0.2.0"})").value(), ElementsAre("0.1.0", "0.2.0"));
  EXPECT_EQ(reply(R"({"cniVersion":"0.3.0"})").error().text(),
            "decoding version info: missing field supportedVersions");
  EXPECT_EQ(reply("{}").error().text(), "decoding version info: missing field cniVersion");
  EXPECT_THAT(
      aio::run(fetch_versions(call(fake(
                   R"({"VERSION":{"error":{"code":4,"msg":"unknown CNI_COMMAND: VERSION"}}})"))))
          .value(),
      ElementsAre("0.1.0"));
  EXPECT_EQ(aio::run(fetch_versions(call(fake(R"({"*":{"error":{"code":4,"msg":"other"}}})"))))
                .error()
                .text(),
            "other");
}

// Row I23.
TEST_F(PluginDelegate, RunsWithOnlyTheCommandReplaced) {
  fake(R"({"record":")" + (dir / "record") + R"("})");
  ASSERT_EQ(::setenv("CNI_COMMAND", "NOPE", 1), 0);
  const std::vector<std::string> own = {"CNI_COMMAND=NOPE", "CNI_PATH=/none:" + dir.path(),
                                        "CNI_IFNAME=e", "PATH=/bin"};
  const std::string config = "{ \"z\": 1.50,\n\"a\":\"<\" }";

  auto output = aio::run(delegate("ADD", "fake", config, own, in(std::chrono::seconds(60))));

  ASSERT_TRUE(output.has_value()) << output.error().text();
  EXPECT_STREQ(std::getenv("CNI_COMMAND"), "NOPE");
  ::unsetenv("CNI_COMMAND");
  const json::Object seen = calls().at(0);
  EXPECT_EQ(*seen.find("env"),
            json::Value(std::vector<std::string>{"CNI_COMMAND=ADD", "CNI_PATH=/none:" + dir.path(),
                                                 "CNI_IFNAME=e", "PATH=/bin"}));
  EXPECT_EQ(*seen.find("stdin"), json::Value(to_base64(config)));
}

TEST_F(PluginDelegate, SaysWhenThereIsNoPath) {
  EXPECT_EQ(
      aio::run(delegate("ADD", "fake", "{}", {}, in(std::chrono::seconds(60)))).error().text(),
      "no paths provided");
}

}  // namespace
}  // namespace mnet::plugin
