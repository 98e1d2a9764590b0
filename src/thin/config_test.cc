#include "thin/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "base/log.h"
#include "base/result.h"
#include "json/json.h"

namespace mnet::thin {
namespace {

using testing::HasSubstr;

Result<Config> parse_config(const char* text) {
  return read_config(json::parse_object(text).value());
}

TEST(Config, HasTheDefaultsOfTheCore) {
  const auto config = parse_config(R"({"cniDir":"","name":"n"})");

  ASSERT_TRUE(config.has_value()) << config.error().text();
  EXPECT_EQ(config->cni_dir, "/var/lib/cni/multus");
  EXPECT_EQ(config->objects_dir, "");
  EXPECT_EQ(config->log_to_stderr, std::nullopt);
  EXPECT_EQ(config->delegate_timeout, std::chrono::seconds(180));
}

TEST(Config, ReadsItsKeysInAnyLetterCase) {
  const auto config = parse_config(
      R"({"objectsdir":"/o","CniDir":"/c","logToStderr":false,"logFile":"/l","logLevel":"debug",
          "logFormat":"json","logOptions":{"maxSize":7},"kubeconfig":"/k","delegateTimeout":3})");

  ASSERT_TRUE(config.has_value()) << config.error().text();
  EXPECT_EQ(config->objects_dir, "/o");
  EXPECT_EQ(config->cni_dir, "/c");
  EXPECT_EQ(config->log_to_stderr, false);
  EXPECT_EQ(config->log_file, "/l");
  EXPECT_EQ(config->log_level, "debug");
  EXPECT_EQ(config->log_format, LogFormat::kJson);
  EXPECT_EQ(config->log_options->max_size, 7);
  EXPECT_EQ(config->kubeconfig, "/k");
  EXPECT_EQ(config->delegate_timeout, std::chrono::seconds(3));
}

TEST(Config, NamesTheKeyOfABadValue) {
  EXPECT_THAT(parse_config(R"({"objectsDir":1})").error().text(), HasSubstr("objectsDir"));
  EXPECT_THAT(parse_config(R"({"logFormat":"xml"})").error().text(), HasSubstr("logFormat"));
  EXPECT_THAT(parse_config(R"({"delegateTimeout":0})").error().text(),
              HasSubstr("delegateTimeout: must be greater than 0"));
}

}  // namespace
}  // namespace mnet::thin
