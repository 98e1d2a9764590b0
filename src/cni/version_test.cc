#include "cni/version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace mnet::cni {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

TEST(Version, ParsesMissingPartsAsZeroAndEmptyAsTheOldest) {
  EXPECT_EQ(parse_version("1.2.3").value(), (VersionNumber{1, 2, 3}));
  EXPECT_EQ(parse_version("1").value(), (VersionNumber{1, 0, 0}));
  EXPECT_EQ(parse_version("1.1").value(), (VersionNumber{1, 1, 0}));
  EXPECT_EQ(parse_version("").value(), (VersionNumber{0, 1, 0}));
  EXPECT_EQ(parse_version("0.-42.+7").value(), (VersionNumber{0, -42, 7}));
}

TEST(Version, NamesThePartThatIsNoNumber) {
  EXPECT_THAT(parse_version("zz").error().text(),
              StartsWith("failed to convert major version part \"zz\": "));
  EXPECT_THAT(parse_version("0.").error().text(),
              StartsWith("failed to convert minor version part \"\": "));
  EXPECT_THAT(parse_version("1.0.0-rc1").error().text(),
              StartsWith("failed to convert micro version part \"0-rc1\": "));
  EXPECT_EQ(parse_version("1.2.3.4").error().text(), "invalid version \"1.2.3.4\": too many parts");
  for (const std::string_view bad :
       {"..", " 1", "1 ", "+", "-", "+-1", "1.0.0x", "0x1", "99999999999999999999", "1..0"}) {
    EXPECT_FALSE(parse_version(bad).has_value()) << bad;
  }
}

TEST(Version, IsComparedByNumber) {
  EXPECT_GT(parse_version("0.10.0").value(), parse_version("0.9.0").value());
  EXPECT_TRUE(at_least("1.1", kGcStatusSince));
  EXPECT_FALSE(at_least("1.0.9", kGcStatusSince));
  EXPECT_FALSE(at_least("zz", kCheckSince));
  EXPECT_FALSE(at_least("", kCheckSince));
}

TEST(Version, IsSupportedByExactSpellingOnly) {
  for (const std::string& version : all_versions()) EXPECT_TRUE(is_supported(version)) << version;
  EXPECT_EQ(all_versions().size(), 7u);
  EXPECT_FALSE(is_supported("1.1"));
  EXPECT_FALSE(is_supported(""));
  EXPECT_FALSE(is_supported("1.2.0"));
}

// I22.
TEST(VersionReply, ListsTheVersionsAsThePluginGaveThem) {
  EXPECT_THAT(
      parse_version_reply(R"({"cniVersion":"1.1.0","supportedVersions":["0.4.0","x"]})").value(),
      ElementsAre("0.4.0", "x"));
  EXPECT_THAT(parse_version_reply(R"({"cniVersion":"0.2.0"})").value(),
              ElementsAre("0.1.0", "0.2.0"));
  EXPECT_THAT(parse_version_reply(R"({"cniVersion":"0.2.0","supportedVersions":[]})").value(),
              ElementsAre("0.1.0", "0.2.0"));
}

// I22.
TEST(VersionReply, MustHaveBothFields) {
  EXPECT_EQ(parse_version_reply(R"({"cniVersion":"0.3.0"})").error().text(),
            "decoding version info: missing field supportedVersions");
  EXPECT_EQ(parse_version_reply("{}").error().text(),
            "decoding version info: missing field cniVersion");
  EXPECT_EQ(parse_version_reply("null").error().text(),
            "decoding version info: missing field cniVersion");
  EXPECT_EQ(
      parse_version_reply(R"({"cniVersion":"","supportedVersions":["0.1.0"]})").error().text(),
      "decoding version info: missing field cniVersion");
  for (const std::string_view bad : {"", "x", "[]", R"({"cniVersion":1})",
                                     R"({"cniVersion":"1.0.0","supportedVersions":"1.0.0"})",
                                     R"({"cniVersion":"1.0.0","supportedVersions":[1]})"}) {
    EXPECT_THAT(parse_version_reply(bad).error().text(), StartsWith("decoding version info: "));
  }
}

}  // namespace
}  // namespace mnet::cni
