#include "cni/names.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "cni/error.h"
#include "json/json.h"

namespace mnet::cni {
namespace {

// "ok", or the error that the runtime would get.
std::string outcome(const Result<void>& validated) {
  if (validated) return "ok";
  return json::dump(to_json(object_for_runtime(validated.error())));
}

TEST(ContainerId, IsOfLettersDigitsAndThreeMarks) {
  EXPECT_EQ(outcome(validate_container_id("a")), "ok");
  EXPECT_EQ(outcome(validate_container_id("0.A_-")), "ok");
  EXPECT_EQ(outcome(validate_container_id(std::string(5000, 'x'))), "ok");
}

TEST(ContainerId, RefusesAllElseWithTheIdInDetails) {
  EXPECT_EQ(outcome(validate_container_id("")), R"({"code":3,"msg":"missing containerID"})");
  EXPECT_EQ(outcome(validate_container_id("some-%%id")),
            R"({"code":4,"msg":"invalid characters in containerID","details":"some-%%id"})");
  EXPECT_EQ(outcome(validate_container_id("c\n")),
            R"({"code":4,"msg":"invalid characters in containerID","details":"c\n"})");
  for (const std::string_view id : {"-abc", "_a", ".a", "\u00fc", "a/b", "../x", "a b"}) {
    EXPECT_FALSE(validate_container_id(id).has_value()) << id;
  }
}

TEST(NetworkName, FollowsTheSamePatternWithItsOwnTexts) {
  EXPECT_EQ(outcome(validate_network_name("net-1_a.b")), "ok");
  EXPECT_EQ(outcome(validate_network_name("")), R"({"code":7,"msg":"missing network name:"})");
  EXPECT_EQ(outcome(validate_network_name("te%%st")),
            R"({"code":7,"msg":"invalid characters found in network name","details":"te%%st"})");
  EXPECT_FALSE(validate_network_name("../x").has_value());
}

TEST(InterfaceName, IsBoundedInBytes) {
  constexpr std::string_view kTooLong =
      R"({"code":4,"msg":"interface name is too long","details":"interface name should be less than 16 characters"})";
  EXPECT_EQ(outcome(validate_ifname(std::string(15, 'e'))), "ok");
  EXPECT_EQ(outcome(validate_ifname(std::string(16, 'e'))), kTooLong);
  EXPECT_EQ(outcome(validate_ifname("üüüüüüüü")), kTooLong);
  EXPECT_EQ(outcome(validate_ifname("")), R"({"code":4,"msg":"interface name is empty"})");
}

TEST(InterfaceName, RefusesDotsSlashColonAndWhiteSpace) {
  EXPECT_EQ(outcome(validate_ifname(".")), R"({"code":4,"msg":"interface name is . or .."})");
  EXPECT_EQ(outcome(validate_ifname("..")), R"({"code":4,"msg":"interface name is . or .."})");
  for (const std::string_view name : {"a/b", "a:b", "a b", "a\t", "a\n", "a\u00a0", "a\u0085",
                                      "\u1680", "\u200a", "\u2028", "\u202f", "\u205f", "\u3000"}) {
    EXPECT_EQ(outcome(validate_ifname(name)),
              R"({"code":4,"msg":"interface name contains / or : or whitespace characters"})")
        << name;
  }
}

TEST(InterfaceName, RefusesAZeroByte) {
  EXPECT_EQ(outcome(validate_ifname(std::string_view("a\0b", 3))),
            R"({"code":4,"msg":"interface name contains a zero byte"})");
}

TEST(InterfaceName, TakesEveryOtherByte) {
  for (const std::string_view name : {"e\xa0", "...", "a%$'\"", "a\x01", "\u200b", "\xff\xfe"}) {
    EXPECT_EQ(outcome(validate_ifname(name)), "ok") << name;
  }
}

}  // namespace
}  // namespace mnet::cni
