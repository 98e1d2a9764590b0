#include "shim/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace mnet::shim {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST(ShimConfig, HasTheDefaultsOfTheOriginal) {
  for (const char* text :
       {"{}", R"({"daemonSocketDir":"","cniDir":"","cniVersion":null,"shimTimeout":null})"}) {
    const auto config = parse_config(text);

    ASSERT_TRUE(config.has_value());
    EXPECT_EQ(config->cni_version, "");
    EXPECT_EQ(config->socket, "/run/multus/multus.sock");
    EXPECT_EQ(config->cni_dir, "/var/lib/cni/multus");
    EXPECT_EQ(config->timeout, std::nullopt);
    EXPECT_THAT(config->complaints, IsEmpty());
  }
}

TEST(ShimConfig, ReadsItsKeys) {
  const auto config = parse_config(
      R"({"CNIversion":"1.0.0","daemonSocketDir":"/s//","cniDir":"/x","shimTimeout":0.25,)"
      R"("name":5,"delegates":"not ours"})");

  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->cni_version, "1.0.0");
  EXPECT_EQ(config->socket, "/s/multus.sock");
  EXPECT_EQ(config->cni_dir, "/x");
  EXPECT_EQ(config->timeout, milliseconds(250));
}

TEST(ShimConfig, RefusesAWrongTypeOfAnOldKey) {
  for (const char* text : {R"({"daemonSocketDir":5})", R"({"logFile":5})", R"({"logLevel":[]})",
                           R"({"logToStderr":"true"})", R"({"cniVersion":1})"}) {
    const auto config = parse_config(text);
    ASSERT_FALSE(config.has_value()) << text;
    EXPECT_THAT(config.error().text(), StartsWith("failed to gather the multus configuration: "));
  }
  EXPECT_THAT(parse_config("{").error().text(),
              StartsWith("failed to gather the multus configuration: "));
}

// Otherwise it would be forgotten: the runtime takes the success of its shim for a DEL that is
// done.
TEST(ShimConfig, OfADelTakesTheDefaultForAWrongType) {
  const auto config = parse_config(
      R"({"daemonSocketDir":5,"cniVersion":"1.0.0","logToStderr":"x"})", WrongKeys::kIgnored);

  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->socket, "/run/multus/multus.sock");
  EXPECT_EQ(config->cni_version, "1.0.0");
  EXPECT_THAT(config->complaints, ElementsAre(HasSubstr("daemonSocketDir")));
}

TEST(ShimConfig, OnlyComplainsAboutANewKey) {
  const auto config = parse_config(R"({"cniDir":5,"shimTimeout":"50"})");
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->cni_dir, "/var/lib/cni/multus");
  EXPECT_EQ(config->timeout, std::nullopt);
  EXPECT_THAT(config->complaints, ElementsAre(HasSubstr("cniDir"), HasSubstr("shimTimeout")));

  for (const char* text : {R"({"shimTimeout":0})", R"({"shimTimeout":-1})"}) {
    EXPECT_EQ(parse_config(text)->timeout, std::nullopt) << text;
    EXPECT_THAT(parse_config(text)->complaints, ElementsAre(HasSubstr("shimTimeout"))) << text;
  }
}

TEST(ShimConfig, BoundsTheTimeout) {
  EXPECT_EQ(parse_config(R"({"shimTimeout":1e300})")->timeout, milliseconds(1'000'000'000));
  EXPECT_EQ(parse_config(R"({"shimTimeout":1e-9})")->timeout, milliseconds(1));
}

// So that a configuration that is refused can be logged where it says.
TEST(ShimLogSettings, AreReadAsFarAsTheyAreUsable) {
  const LogSettings settings =
      parse_log_settings(R"({"logFile":"/l","logLevel":5,"logToStderr":true,"cniVersion":7})");

  EXPECT_EQ(settings.file, "/l");
  EXPECT_EQ(settings.level, "");
  EXPECT_TRUE(settings.to_stderr);
  EXPECT_EQ(parse_log_settings("no json").file, "");
}

}  // namespace
}  // namespace mnet::shim
