#include "cni/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"
#include "cni/address.h"
#include "cni/version.h"
#include "json/json.h"

namespace mnet::cni {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// The worked example of 01, 3.6.
constexpr std::string_view kWorked = R"({"cniVersion":"1.1.0",
 "interfaces":[{"name":"eth0","mac":"aa","mtu":1500,"sandbox":"/x","socketPath":"/s","pciID":"p"}],
 "ips":[{"interface":0,"address":"10.1.2.3/24","gateway":"10.1.2.1"},{"address":"10.1.2.4/24"},
        {"address":"fd00::2/64","gateway":"fd00::1"}],
 "routes":[{"dst":"0.0.0.0/0","gw":"10.1.2.1","mtu":1400,"advmss":1300,"priority":5,"table":100,
            "scope":0},{"dst":"::/0"}],
 "dns":{}})";

// R4's input.
constexpr std::string_view kLegacy =
    R"({"cniVersion":"0.2.0","ip4":{"ip":"1.2.3.4/24","gateway":"1.2.3.1","routes":[{"dst":"0.0.0.0/0","mtu":1400}]},"ip6":{"ip":"fd00::2/64"}})";

Result<NetResult> read(std::string_view text) { return read_result(json::parse(text).value()); }

// The text of `result` compactly, or of the error.
std::string text_of(const Result<NetResult>& result) {
  return result ? json::dump(to_json(*result)) : result.error().text();
}

std::string converted(std::string_view text, std::string_view version) {
  const auto result = read(text);
  return result ? text_of(convert(*result, version)) : "unreadable: " + result.error().text();
}

std::string reread(std::string_view text) { return text_of(read(text)); }

// R1.
TEST(ResultConversion, OfTheWorkedExampleGivesExactlyWhatTheSpecificationShows) {
  EXPECT_EQ(
      converted(kWorked, "1.0.0"),
      R"({"cniVersion":"1.0.0","interfaces":[{"mac":"aa","mtu":1500,"name":"eth0","pciID":"p","sandbox":"/x","socketPath":"/s"}],)"
      R"("ips":[{"address":"10.1.2.3/24","gateway":"10.1.2.1","interface":0},{"address":"10.1.2.4/24"},{"address":"fd00::2/64","gateway":"fd00::1"}],)"
      R"("routes":[{"advmss":1300,"dst":"0.0.0.0/0","gw":"10.1.2.1","mtu":1400,"priority":5,"scope":0,"table":100},{"dst":"::/0"}]})");
  for (const std::string version : {"0.3.0", "0.3.1", "0.4.0"}) {
    EXPECT_EQ(
        converted(kWorked, version),
        R"({"cniVersion":")" + version +
            R"(","interfaces":[{"name":"eth0","mac":"aa","sandbox":"/x"}],)"
            R"("ips":[{"version":"4","interface":0,"address":"10.1.2.3/24","gateway":"10.1.2.1"},{"version":"4","address":"10.1.2.4/24"},)"
            R"({"version":"6","address":"fd00::2/64","gateway":"fd00::1"}],)"
            R"("routes":[{"dst":"0.0.0.0/0","gw":"10.1.2.1","mtu":1400,"advmss":1300,"priority":5,"table":100,"scope":0},{"dst":"::/0"}],)"
            R"("dns":{}})");
  }
  for (const std::string version : {"0.1.0", "0.2.0"}) {
    EXPECT_EQ(
        converted(kWorked, version),
        R"({"cniVersion":")" + version +
            R"(","ip4":{"ip":"10.1.2.3/24","gateway":"10.1.2.1","routes":[{"dst":"0.0.0.0/0","gw":"10.1.2.1"}]},)"
            R"("ip6":{"ip":"fd00::2/64","gateway":"fd00::1","routes":[{"dst":"::/0"}]},"dns":{}})");
  }
}

// R2.
TEST(ResultConversion, ToTheEmptyVersionMeansTheOldest) {
  EXPECT_EQ(converted(kWorked, ""), converted(kWorked, "0.1.0"));
}

// R3.
TEST(ResultConversion, ToAnUnknownVersionIsRefused) {
  EXPECT_EQ(converted(kWorked, "9.9.9"), "no converter for CNI result version 1.1.0 to 9.9.9");
  EXPECT_EQ(converted(kWorked, "1.1"), "no converter for CNI result version 1.1.0 to 1.1");
}

// R4, R5.
TEST(ResultConversion, UpwardsLabelsByKeyAndKeepsRouteMembers) {
  EXPECT_EQ(
      converted(kLegacy, "0.4.0"),
      R"({"cniVersion":"0.4.0","ips":[{"version":"4","address":"1.2.3.4/24","gateway":"1.2.3.1"},{"version":"6","address":"fd00::2/64"}],)"
      R"("routes":[{"dst":"0.0.0.0/0","mtu":1400}],"dns":{}})");
  EXPECT_EQ(
      converted(kLegacy, "1.1.0"),
      R"({"cniVersion":"1.1.0","ips":[{"address":"1.2.3.4/24","gateway":"1.2.3.1"},{"address":"fd00::2/64"}],)"
      R"("routes":[{"dst":"0.0.0.0/0","mtu":1400}]})");
  EXPECT_EQ(converted(R"({"ip6":{"ip":"10.0.0.1/24"}})", "0.3.1"),
            R"({"cniVersion":"0.3.1","ips":[{"version":"6","address":"10.0.0.1/24"}],"dns":{}})");
}

// R6.
TEST(ResultConversion, UpAndDownAgainLosesTheRouteExtras) {
  const auto middle = convert(read(kLegacy).value(), "0.4.0").value();

  EXPECT_EQ(
      text_of(convert(middle, "0.2.0")),
      R"({"cniVersion":"0.2.0","ip4":{"ip":"1.2.3.4/24","gateway":"1.2.3.1","routes":[{"dst":"0.0.0.0/0"}]},"ip6":{"ip":"fd00::2/64"},"dns":{}})");
}

// R7.
TEST(ResultConversion, DownwardsFollowsTheLabelForAddressesAndTheFamilyForRoutes) {
  EXPECT_EQ(
      converted(
          R"({"cniVersion":"0.4.0","ips":[{"version":"6","address":"10.0.0.1/24"}],"routes":[{"dst":"0.0.0.0/0"}]})",
          "0.2.0"),
      R"({"cniVersion":"0.2.0","ip6":{"ip":"10.0.0.1/24"},"dns":{}})");
}

// R8.
TEST(ResultConversion, OfAnAddressWithoutLabel) {
  constexpr std::string_view kUnlabelled =
      R"({"cniVersion":"0.4.0","ips":[{"address":"10.0.0.1/24"}]})";

  EXPECT_EQ(converted(kUnlabelled, "0.2.0"), "cannot convert: no valid IP addresses");
  EXPECT_EQ(converted(kUnlabelled, "0.3.1"),
            R"({"cniVersion":"0.3.1","ips":[{"version":"","address":"10.0.0.1/24"}],"dns":{}})");
  EXPECT_EQ(converted(kUnlabelled, "1.0.0"),
            R"({"cniVersion":"1.0.0","ips":[{"address":"10.0.0.1/24"}]})");
}

// R9.
TEST(ResultConversion, OfAResultWithoutAddressesWorksOnlyUpwards) {
  EXPECT_EQ(converted(R"({"cniVersion":"0.3.1"})", "0.2.0"),
            "cannot convert: no valid IP addresses");
  EXPECT_EQ(converted(R"({"cniVersion":"0.3.1"})", "1.1.0"), R"({"cniVersion":"1.1.0"})");
}

// R10.
TEST(ResultReading, TakesAnEmptyDocumentForTheOldestVersion) {
  EXPECT_EQ(converted("{}", "1.1.0"), R"({"cniVersion":"1.1.0"})");
  EXPECT_EQ(converted("null", "1.1.0"), R"({"cniVersion":"1.1.0"})");
  EXPECT_EQ(reread(R"({"cniVersion":""})"), R"({"cniVersion":"0.1.0","dns":{}})");
}

// R11.
TEST(ResultReading, RefusesAnUnknownVersion) {
  EXPECT_EQ(reread(R"({"cniVersion":"1.2.0"})"), "unsupported CNI result version \"1.2.0\"");
  EXPECT_THAT(reread(R"({"cniVersion":1})"), HasSubstr("decoding version from network config: "));
  EXPECT_THAT(reread("[]"), HasSubstr("decoding version from network config: "));
}

// R12.
TEST(ResultReading, ByAnExpectedVersionWantsItsFamily) {
  const auto read_as = [](std::string_view text, std::string_view version) {
    return text_of(read_result(json::parse(text).value(), version));
  };

  EXPECT_EQ(read_as(R"({"cniVersion":"1.1.0"})", "0.2.0"),
            "result type supports [ 0.1.0 0.2.0] but unmarshalled CNIVersion is \"1.1.0\"");
  EXPECT_EQ(read_as(R"({"cniVersion":"1.1.0"})", ""),
            "result type supports [ 0.1.0 0.2.0] but unmarshalled CNIVersion is \"1.1.0\"");
  EXPECT_EQ(read_as("{}", "0.3.1"),
            "result type supports [0.3.0 0.3.1 0.4.0] but unmarshalled CNIVersion is \"\"");
  EXPECT_EQ(read_as(R"({"cniVersion":"0.4.0"})", "1.0.0"),
            "result type supports [1.0.0 1.1.0] but unmarshalled CNIVersion is \"0.4.0\"");
  EXPECT_EQ(read_as(R"({"cniVersion":"0.4.0"})", "0.3.0"), R"({"cniVersion":"0.4.0","dns":{}})");
  EXPECT_EQ(read_as("{}", "7.0.0"), "unsupported CNI result version \"7.0.0\"");
}

// R13.
TEST(ResultWriting, AlwaysHasDnsBeforeVersion1AndNeverAnEmptyOneFromThenOn) {
  for (const std::string& version : all_versions()) {
    NetResult result;
    result.version = version;

    const std::string text = json::dump(to_json(result), json::kPretty);

    if (version.starts_with("1.")) {
      EXPECT_THAT(text, Not(HasSubstr("dns"))) << version;
    } else {
      EXPECT_THAT(text, HasSubstr("\"dns\": {}")) << version;
    }
  }
}

// R14.
TEST(ResultWriting, KeepsAnyInterfaceIndexThatWasGiven) {
  EXPECT_EQ(
      reread(
          R"({"cniVersion":"1.0.0","ips":[{"address":"10.0.0.1/8","interface":0},{"address":"10.0.0.2/8"},{"address":"10.0.0.3/8","interface":-1},{"address":"10.0.0.4/8","interface":null}]})"),
      R"({"cniVersion":"1.0.0","ips":[{"address":"10.0.0.1/8","interface":0},{"address":"10.0.0.2/8"},{"address":"10.0.0.3/8","interface":-1},{"address":"10.0.0.4/8"}]})");
}

// R15.
TEST(ResultWriting, PrintsZeroTableAndScopeButNoZeroPriority) {
  EXPECT_EQ(
      reread(
          R"({"cniVersion":"1.1.0","routes":[{"dst":"10.0.0.0/8","table":0,"scope":0,"priority":0,"mtu":0,"advmss":0}]})"),
      R"({"cniVersion":"1.1.0","routes":[{"dst":"10.0.0.0/8","scope":0,"table":0}]})");
}

// R16.
TEST(ResultReading, RefusesABadAddress) {
  for (const std::string_view address :
       {R"("10.0.0.1")", R"("010.0.0.1/24")", R"("1.2.3.4/99")", R"("fe80::1%eth0/64")", "null",
        "5", R"("")", R"("<nil>")", "{}"}) {
    const std::string text =
        R"({"cniVersion":"1.0.0","ips":[{"address":)" + std::string(address) + "}]}";
    EXPECT_FALSE(read(text).has_value()) << text;
  }
  EXPECT_EQ(reread(R"({"cniVersion":"1.0.0","ips":[{"address":"1.2.3.4/99"}]})"),
            "ips[0].address: invalid CIDR address: 1.2.3.4/99");
  EXPECT_FALSE(read(R"({"ip4":{"ip":null}})").has_value());
  EXPECT_FALSE(read(R"({"cniVersion":"1.0.0","routes":[{"dst":null}]})").has_value());
}

// R17.
TEST(ResultWriting, PrintsAddressesCanonicallyWithHostBits) {
  EXPECT_EQ(
      reread(
          R"({"cniVersion":"1.0.0","ips":[{"address":"FD00:0:0::1/64"}],"routes":[{"dst":"10.1.2.3/8"}]})"),
      R"({"cniVersion":"1.0.0","ips":[{"address":"fd00::1/64"}],"routes":[{"dst":"10.1.2.3/8"}]})");
}

// R18.
TEST(ResultConversion, TakesAMappedAddressForIpv4) {
  EXPECT_EQ(
      converted(R"({"cniVersion":"1.0.0","ips":[{"address":"::ffff:1.2.3.4/120"}]})", "0.4.0"),
      R"({"cniVersion":"0.4.0","ips":[{"version":"4","address":"1.2.3.4/24"}],"dns":{}})");
}

// R19.
TEST(ResultReading, TakesAnEmptyGatewayForNone) {
  EXPECT_EQ(reread(R"({"cniVersion":"1.0.0","ips":[{"address":"1.2.3.4/8","gateway":""}]})"),
            R"({"cniVersion":"1.0.0","ips":[{"address":"1.2.3.4/8"}]})");
  EXPECT_EQ(reread(R"({"cniVersion":"1.0.0","ips":[{"address":"1.2.3.4/8","gateway":"x"}]})"),
            "ips[0].gateway: invalid IP address: x");
}

// R20.
TEST(ResultReading, RefusesWrongTypesAndNullElements) {
  for (const std::string_view text :
       {R"({"cniVersion":"1.1.0","interfaces":[{"mtu":1.5}]})",
        R"({"cniVersion":"1.1.0","interfaces":[{"mtu":1e3}]})",
        R"({"cniVersion":"1.1.0","ips":{}})", R"({"cniVersion":"1.1.0","ips":[null]})",
        R"({"cniVersion":"1.1.0","interfaces":[null]})",
        R"({"cniVersion":"1.1.0","routes":[null]})", R"({"cniVersion":"0.4.0","ips":[null]})",
        R"({"ip4":{"ip":"1.2.3.4/8","routes":[null]}})", R"({"cniVersion":"1.1.0","ips":["x"]})",
        R"({"cniVersion":"1.1.0","dns":[]})", R"({"cniVersion":"1.1.0","dns":{"domain":1}})",
        R"({"cniVersion":"1.1.0","ips":[{"gateway":5}]})", R"({"ip4":[]})",
        R"({"cniVersion":"0.4.0","ips":[{"version":4,"address":"1.2.3.4/8"}]})"}) {
    EXPECT_FALSE(read(text).has_value()) << text;
  }
  EXPECT_EQ(reread(R"({"cniVersion":"1.1.0","ips":[null]})"),
            "ips[0]: expected an object, got null");
}

// R20.
TEST(ResultReading, DropsWhatLacksItsAddressAndSaysSo) {
  const auto lists = read(
      R"({"cniVersion":"1.1.0","ips":[{"gateway":"10.0.0.1"},{"address":"10.0.0.2/8"}],"routes":[{"gw":"10.0.0.1"}]})");
  const auto legacy =
      read(R"({"ip4":{"gateway":"10.0.0.1"},"ip6":{"ip":"::1/128","routes":[{},{"dst":"::/0"}]}})");

  EXPECT_EQ(text_of(lists), R"({"cniVersion":"1.1.0","ips":[{"address":"10.0.0.2/8"}]})");
  EXPECT_THAT(lists->dropped, ElementsAre("ips[0] has no address", "routes[0] has no dst"));
  EXPECT_EQ(text_of(legacy),
            R"({"cniVersion":"0.1.0","ip6":{"ip":"::1/128","routes":[{"dst":"::/0"}]},"dns":{}})");
  EXPECT_THAT(legacy->dropped, ElementsAre("ip4 has no ip", "ip6.routes[0] has no dst"));
  EXPECT_THAT(read(kWorked)->dropped, IsEmpty());
}

// R21.
TEST(ResultReading, DropsMembersOutsideTheSchema) {
  EXPECT_EQ(
      reread(
          R"({"cniVersion":"1.0.0","x":1,"ips":[{"version":"4","address":"10.0.0.1/8","y":{}}],"ip4":{"ip":"no"}})"),
      R"({"cniVersion":"1.0.0","ips":[{"address":"10.0.0.1/8"}]})");
  EXPECT_EQ(reread(R"({"cniVersion":"0.4.0","interfaces":[{"name":"e","mtu":1500}]})"),
            R"({"cniVersion":"0.4.0","interfaces":[{"name":"e"}],"dns":{}})");
  EXPECT_EQ(reread(R"({"cniVersion":"0.2.0","ips":5})"), R"({"cniVersion":"0.2.0","dns":{}})");
}

// R22.
TEST(ResultWriting, AlwaysHasTheInterfaceName) {
  EXPECT_EQ(reread(R"({"cniVersion":"1.0.0","interfaces":[{"mac":"aa"}]})"),
            R"({"cniVersion":"1.0.0","interfaces":[{"mac":"aa","name":""}]})");
  EXPECT_EQ(reread(R"({"cniVersion":"0.3.0","interfaces":[{}]})"),
            R"({"cniVersion":"0.3.0","interfaces":[{"name":""}],"dns":{}})");
}

// R23, R24.
TEST(ResultConversion, LosesInterfaceExtrasOnlyOnTheWayThroughOlderFamilies) {
  const auto original = read(kWorked).value();

  const auto relabelled = convert(convert(original, "1.0.0").value(), "1.1.0").value();
  const auto through = convert(convert(original, "0.4.0").value(), "1.1.0").value();

  EXPECT_EQ(relabelled, original);
  auto expected = original;
  expected.interfaces[0].mtu = 0;
  expected.interfaces[0].socket_path.clear();
  expected.interfaces[0].pci_id.clear();
  EXPECT_EQ(through, expected);
}

TEST(ResultConversion, TakesAResultMadeInMemoryForTheNewestVersionThatHasItsMembers) {
  NetResult legacy;
  legacy.ip4 = LegacyIp{.ip = Cidr::parse("10.0.0.1/8").value(), .gateway = {}, .routes = {}};
  NetResult labelled;
  labelled.ips.push_back({.version = "6",
                          .interface = {},
                          .address = Cidr::parse("10.0.0.1/8").value(),
                          .gateway = {}});

  EXPECT_EQ(text_of(convert(legacy, "1.1.0")),
            R"({"cniVersion":"1.1.0","ips":[{"address":"10.0.0.1/8"}]})");
  EXPECT_EQ(text_of(convert(labelled, "0.2.0")),
            R"({"cniVersion":"0.2.0","ip6":{"ip":"10.0.0.1/8"},"dns":{}})");
  EXPECT_EQ(text_of(convert(NetResult(), "0.4.0")), R"({"cniVersion":"0.4.0","dns":{}})");
}

TEST(ResultContent, IsAnInterfaceOrAnAddress) {
  EXPECT_FALSE(read("{}")->has_content());
  EXPECT_FALSE(
      read(R"({"cniVersion":"1.0.0","routes":[{"dst":"::/0"}],"interfaces":[]})")->has_content());
  EXPECT_TRUE(read(R"({"cniVersion":"1.0.0","interfaces":[{}]})")->has_content());
  EXPECT_TRUE(read(R"({"cniVersion":"1.0.0","ips":[{"address":"::1/128"}]})")->has_content());
  EXPECT_TRUE(read(R"({"ip6":{"ip":"::1/128"}})")->has_content());
}

TEST(ResultWriting, SortsDnsFromVersion1On) {
  constexpr std::string_view kDns =
      R"("dns":{"search":["s"],"domain":"d","options":["o"],"nameservers":["n"]}})";

  EXPECT_EQ(
      reread(R"({"cniVersion":"0.4.0",)" + std::string(kDns)),
      R"({"cniVersion":"0.4.0","dns":{"nameservers":["n"],"domain":"d","search":["s"],"options":["o"]}})");
  EXPECT_EQ(
      reread(R"({"cniVersion":"1.1.0",)" + std::string(kDns)),
      R"({"cniVersion":"1.1.0","dns":{"domain":"d","nameservers":["n"],"options":["o"],"search":["s"]}})");
}

std::string prev_result(std::string_view config) {
  const auto result = read_prev_result(json::parse_object(config).value());
  if (!result) return result.error().text();
  return *result ? json::dump(to_json(**result)) : "none";
}

// P43.
TEST(PrevResult, WithoutVersionTakesTheConfigurations) {
  EXPECT_EQ(prev_result(R"({"cniVersion":"1.1.0","prevResult":{"ips":[{"address":"::1/128"}]}})"),
            R"({"cniVersion":"1.1.0","ips":[{"address":"::1/128"}]})");
  EXPECT_EQ(prev_result(R"({"prevResult":{}})"), R"({"cniVersion":"0.1.0","dns":{}})");
}

// P44.
TEST(PrevResult, MustBeOfTheConfigurationsFamily) {
  EXPECT_EQ(prev_result(R"({"cniVersion":"1.1.0","prevResult":{"cniVersion":"0.2.0"}})"),
            "could not parse prevResult: result type supports [1.0.0 1.1.0] but unmarshalled "
            "CNIVersion is \"0.2.0\"");
  EXPECT_EQ(prev_result(R"({"cniVersion":"0.3.1","prevResult":{"cniVersion":"0.4.0"}})"),
            R"({"cniVersion":"0.4.0","dns":{}})");
  EXPECT_EQ(prev_result(R"({"cniVersion":"1.2.0","prevResult":{}})"),
            "could not parse prevResult: unsupported CNI result version \"1.2.0\"");
}

// P45.
TEST(PrevResult, WithAnEmptyVersionIsGoodOnlyForTheOldestFamily) {
  EXPECT_EQ(prev_result(R"({"cniVersion":"1.1.0","prevResult":{"cniVersion":""}})"),
            "could not parse prevResult: result type supports [1.0.0 1.1.0] but unmarshalled "
            "CNIVersion is \"\"");
  EXPECT_EQ(prev_result(R"({"cniVersion":"0.2.0","prevResult":{"cniVersion":""}})"),
            R"({"cniVersion":"0.1.0","dns":{}})");
}

TEST(PrevResult, AbsentOrNullIsNone) {
  EXPECT_EQ(prev_result(R"({"cniVersion":"1.1.0"})"), "none");
  EXPECT_EQ(prev_result(R"({"cniVersion":"1.1.0","prevResult":null})"), "none");
  EXPECT_THAT(prev_result(R"({"cniVersion":"1.1.0","prevResult":[]})"),
              HasSubstr("could not parse prevResult: "));
}

std::string cached(std::string_view text, std::string_view config_version) {
  return text_of(read_cached_result(json::parse(text).value(), config_version));
}

// C4, C6.
TEST(CacheEntry, IsConvertedToTheConfigurationsVersion) {
  EXPECT_EQ(cached(R"({"cniVersion":"0.2.0","ip4":{"ip":"1.2.3.4/24"}})", "1.1.0"),
            R"({"cniVersion":"1.1.0","ips":[{"address":"1.2.3.4/24"}]})");
  EXPECT_EQ(cached("{}", "1.1.0"), R"({"cniVersion":"1.1.0"})");
}

TEST(CacheEntry, SaysWhichVersionItCouldNotBecome) {
  EXPECT_EQ(cached(R"({"cniVersion":"1.0.0"})", "0.2.0"),
            "failed to convert cached result to config version \"0.2.0\": cannot convert: no valid "
            "IP addresses");
  EXPECT_EQ(cached(R"({"cniVersion":"7"})", "0.2.0"), "unsupported CNI result version \"7\"");
}

std::string output(std::string_view text, std::string_view config_version = "1.0.0") {
  return text_of(read_plugin_output(text, config_version));
}

// I9, I11.
TEST(PluginOutput, WithoutUsableVersionTakesTheConfigurations) {
  for (const std::string_view text :
       {"null", "{}", R"({"code":8,"msg":"m"})", R"({"cniVersion":""})", R"({"cniVersion":5})",
        R"({"cniVersion":null})"}) {
    EXPECT_EQ(output(text), R"({"cniVersion":"1.0.0"})") << text;
  }
  EXPECT_EQ(output("{}", ""), R"({"cniVersion":"0.1.0","dns":{}})");
}

// I10, I12.
TEST(PluginOutput, MustBeAnObjectOfAKnownVersion) {
  for (const std::string_view text : {"", "[]", "x", "{}{}"}) {
    EXPECT_THAT(output(text), HasSubstr("failed to unmarshal raw result: ")) << text;
  }
  EXPECT_EQ(output(R"({"cniVersion":"7.0.0"})"), "unsupported CNI result version \"7.0.0\"");
}

TEST(PluginOutput, MayBeOfAnotherVersionThanTheConfiguration) {
  EXPECT_EQ(output(R"({"cniVersion":"0.2.0","ip4":{"ip":"1.2.3.4/24"}})"),
            R"({"cniVersion":"0.2.0","ip4":{"ip":"1.2.3.4/24"},"dns":{}})");
}

// A spelling that Go takes for the key counts, and its type too.
TEST(PrevResult, HasItsVersionInAnySpelling) {
  const auto read = [](const std::string& version) {
    return read_prev_result(
        json::parse_object(cat(R"({"cniVersion":"0.3.1","prevResult":{)", version, "}}")).value());
  };

  EXPECT_EQ((*read(R"("cniversion":"0.4.0")"))->version, "0.4.0");
  EXPECT_FALSE(read(R"("cniVersioN":1)").has_value());
}

// The author of a definition chooses what a plugin passes on.
TEST(PluginOutput, IsCountedBeforeItIsRead) {
  const auto with_values = [](std::size_t count) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) list += i == 0 ? "0" : ",0";
    return read_plugin_output(cat(R"({"cniVersion":"1.0.0","x":[)", list, "]}"), "1.0.0");
  };
  const auto with_bytes = [](std::size_t count) {
    return read_plugin_output(cat(R"({"x":")", std::string(count, 'x'), "\"}"), "1.0.0");
  };

  EXPECT_TRUE(with_values(kMaxResultValues - 10));
  EXPECT_EQ(with_values(kMaxResultValues).error().text(),
            "failed to unmarshal raw result: 10003 values, more than 10000");
  EXPECT_TRUE(with_bytes(kMaxResultBytes - 100));
  EXPECT_EQ(with_bytes(kMaxResultBytes).error().text(),
            "failed to unmarshal raw result: 4194312 bytes, more than 4194304");
}

}  // namespace
}  // namespace mnet::cni
