#include "validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "chain/fake_ports.h"
#include "chain/plugins.h"
#include "model/delegate.h"

namespace mnet::cnitool {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class ValidationTest : public testing::Test {
 protected:
  // The version's question names no network.
  void supports(const std::string& type, const std::string& versions) {
    node_.plugins.answers[cat("VERSION  ", type)] =
        cat(R"({"cniVersion":"1.1.0","supportedVersions":[)", versions, "]}");
  }
  Result<std::vector<std::string>> validate(const std::string& config) {
    auto delegate = std::make_shared<const model::Delegate>(model::parse_delegate(config).value());
    return aio::run(validation_.run(std::move(delegate)));
  }

  chain::FakeNode node_;
  Validation validation_{node_.plugins, {"/b"}};
};

// X30, I22
TEST_F(ValidationTest, TriesEveryPluginAndTellsAllErrorsTogether) {
  node_.plugins.missing.insert("gone");
  supports("old", R"("0.1.0","0.4.0")");
  supports("good", R"("1.0.0","1.1.0")");
  node_.plugins.errors.emplace(
      "VERSION  ancient",
      Error::from_object(Errc::kPlugin, {4, "unknown CNI_COMMAND: VERSION", ""}));

  auto found = validate(R"({"name":"n","cniVersion":"1.0.0","plugins":[{"type":"gone"},)"
                        R"({"type":"old"},{"type":"good"},{"type":"ancient"}]})");

  EXPECT_EQ(found.error().text(),
            "[failed to find plugin \"gone\" in path [/b] "
            "plugin old does not support config version \"1.0.0\" "
            "plugin ancient does not support config version \"1.0.0\"]");
  EXPECT_EQ(found.error().origin(), nullptr);
  EXPECT_THAT(node_.plugins.runs, SizeIs(3));
}

// X30
TEST_F(ValidationTest, ChecksAListWithoutAVersionAsTheOldest) {
  supports("first", R"("0.1.0")");
  EXPECT_TRUE(validate(R"({"name":"n","plugins":[{"type":"first"}]})"));

  supports("later", R"("0.2.0")");
  EXPECT_EQ(validate(R"({"name":"n","cniVersion":"","plugins":[{"type":"later"}]})").error().text(),
            "[plugin later does not support config version \"0.1.0\"]");
}

TEST_F(ValidationTest, ComparesVersionsByTheirSpelling) {
  supports("p", R"("1.1.0")");

  EXPECT_EQ(validate(R"({"name":"n","cniVersion":"1.1","plugins":[{"type":"p"}]})").error().text(),
            "[plugin p does not support config version \"1.1\"]");
}

TEST_F(ValidationTest, YieldsTheCapabilitiesThatAnyPluginDeclares) {
  supports("p", R"("1.0.0")");

  auto found = validate(R"({"name":"n","cniVersion":"1.0.0","plugins":[)"
                        R"({"type":"p","capabilities":{"portMappings":true,"mac":false}},)"
                        R"({"type":"p","capabilities":{"ips":true,"portMappings":true}}]})");

  ASSERT_TRUE(found);
  EXPECT_THAT(*found, ElementsAre("ips", "portMappings"));
}

// I21
TEST_F(ValidationTest, AsksAsOldPluginsExpectIt) {
  supports("p", R"("1.0.0")");
  ASSERT_TRUE(validate(R"({"name":"n","cniVersion":"1.0.0","type":"p"})"));

  ASSERT_THAT(node_.plugins.runs, SizeIs(1));
  const chain::PluginRun& run = node_.plugins.runs.front();
  EXPECT_EQ(run.command, "VERSION");
  EXPECT_EQ(run.config, R"({"cniVersion":"1.1.0"})");
  EXPECT_THAT((std::vector{run.container_id, run.netns, run.ifname, join(run.dirs, ":")}),
              ElementsAre("", "dummy", "dummy", "dummy"));
  EXPECT_THAT(run.args, IsEmpty());
}

TEST_F(ValidationTest, OfASingleConfFailsWithItsErrorAsItIs) {
  node_.plugins.missing.insert("gone");

  EXPECT_EQ(validate(R"({"name":"n","cniVersion":"1.0.0","type":"gone"})").error().text(),
            "failed to find plugin \"gone\" in path [/b]");
}

}  // namespace
}  // namespace mnet::cnitool
