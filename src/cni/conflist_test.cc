#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"
#include "cni/conf.h"

namespace mnet::cni {
namespace {

using testing::StartsWith;

constexpr std::string_view kPrefix = "error parsing configuration list: ";

// A list with these members besides a name and a plugin.
Result<ConfList> list_with(std::string_view members) {
  return parse_conflist(cat(R"({"name":"n","plugins":[{"type":"t"}],)", members, "}"));
}

std::string version_with(std::string_view members) {
  const auto list = list_with(members);
  return list ? list->version : list.error().text();
}

std::string refusal(std::string_view text) {
  const auto list = parse_conflist(text);
  return list ? "taken" : list.error().text();
}

// L1 to L5.
TEST(ConfListVersion, IsTheGreatestOfTheListedThatIsNotAboveOurs) {
  EXPECT_EQ(version_with(R"("cniVersions":["1.1.0","0.4.0","1.0.0"])"), "1.1.0");
  EXPECT_EQ(version_with(R"("cniVersions":["99.0.0","1.0.0"])"), "1.0.0");
  EXPECT_EQ(version_with(R"("cniVersion":"1.0.0","cniVersions":["0.1.0","0.4.0"])"), "1.0.0");
  EXPECT_EQ(version_with(R"("cniVersion":"2.0.0","cniVersions":["0.4.0"])"), "0.4.0");
  EXPECT_EQ(version_with(R"("cniVersion":"2.0.0","cniVersions":["3.0.0"])"), "2.0.0");
  EXPECT_EQ(version_with(R"("cniVersions":[])"), "");
  EXPECT_EQ(version_with(R"("cniVersions":["0.9.0","0.10.0"])"), "0.10.0");
  EXPECT_EQ(version_with(R"("cniVersions":["1.1.0","1.1"])"), "1.1.0");
  EXPECT_EQ(version_with(R"("cniVersions":["1.1","1.1.0"])"), "1.1.0");
}

// L5.
TEST(ConfListVersion, AloneIsTakenAsItStands) {
  EXPECT_EQ(version_with(R"("cniVersion":"zz")"), "zz");
  EXPECT_EQ(version_with(R"("cniVersion":"1.2.3")"), "1.2.3");
  EXPECT_EQ(version_with(R"("x":1)"), "");
}

// L6.
TEST(ConfListVersion, MustBeReadableInAList) {
  EXPECT_THAT(
      version_with(R"("cniVersions":["1.0.f"])"),
      StartsWith("error parsing configuration list: invalid cniVersions entry 1.0.f at index 0: "));
  EXPECT_EQ(version_with(R"("cniVersions":"1.0.0")"),
            "error parsing configuration list: invalid type for cniVersions: string");
  EXPECT_EQ(version_with(R"("cniVersions":null)"),
            "error parsing configuration list: invalid type for cniVersions: <nil>");
  EXPECT_EQ(version_with(R"("cniVersions":["1.0.0",3])"),
            "error parsing configuration list: invalid type for cniVersions index 1: float64");
  EXPECT_THAT(version_with(R"("cniVersion":"zz","cniVersions":["0.4.0"])"),
              StartsWith("error parsing configuration list: invalid cniVersion zz: "));
  EXPECT_EQ(version_with(R"("cniVersion":1)"),
            "error parsing configuration list: invalid cniVersion type float64");
}

// L7.
TEST(ConfListName, MustBeThereAndMayBeAnything) {
  EXPECT_EQ(refusal("{}"), "error parsing configuration list: no name");
  EXPECT_EQ(refusal("null"), "error parsing configuration list: no name");
  EXPECT_EQ(refusal(R"({"Name":"n"})"), "error parsing configuration list: no name");
  EXPECT_EQ(refusal(R"({"name":5})"),
            "error parsing configuration list: invalid name type float64");
  EXPECT_EQ(refusal(R"({"name":null})"),
            "error parsing configuration list: invalid name type <nil>");
  EXPECT_EQ(refusal(R"({"name":[]})"),
            "error parsing configuration list: invalid name type []interface {}");
  EXPECT_THAT(refusal("[]"), StartsWith(kPrefix));
  EXPECT_THAT(refusal("{"), StartsWith(kPrefix));
  EXPECT_EQ(refusal(R"({"name":"","plugins":[{"type":"t"}]})"), "taken");
  EXPECT_EQ(refusal(R"({"name":"../x","plugins":[{"type":"t"}]})"), "taken");
}

// L8.
TEST(ConfListFlags, AreBooleansOrTheirNames) {
  for (const std::string_view key : {"disableCheck", "disableGC", "loadOnlyInlinedPlugins"}) {
    const auto with = [&](std::string_view value) {
      const auto list = list_with(cat("\"", key, "\":", value));
      if (!list) return list.error().text();
      return cat(list->disable_check ? "check " : "", list->disable_gc ? "gc " : "",
                 list->load_only_inlined_plugins ? "inlined " : "");
    };
    const std::string on = key == "disableCheck" ? "check "
                           : key == "disableGC"  ? "gc "
                                                 : "inlined ";

    EXPECT_EQ(with("true"), on);
    EXPECT_EQ(with("\"TRUE\""), on);
    EXPECT_EQ(with("false"), "");
    EXPECT_EQ(with("\"False\""), "");
    EXPECT_EQ(with("\"Yes\""), cat(kPrefix, "invalid value \"yes\" for ", key));
    EXPECT_EQ(with("1"), cat(kPrefix, "invalid type float64 for ", key));
    EXPECT_EQ(with("null"), cat(kPrefix, "invalid type <nil> for ", key));
    EXPECT_EQ(with("{}"), cat(kPrefix, "invalid type map[string]interface {} for ", key));
  }
}

// L9.
TEST(ConfListPlugins, MustBeANonEmptyListOfConfs) {
  const auto with = [](std::string_view plugins) {
    return refusal(cat(R"({"name":"n","plugins":)", plugins, "}"));
  };

  EXPECT_EQ(with("{}"), cat(kPrefix, "invalid 'plugins' type map[string]interface {}"));
  EXPECT_EQ(with("null"), cat(kPrefix, "invalid 'plugins' type <nil>"));
  EXPECT_EQ(with("[]"), cat(kPrefix, "no plugins in list"));
  EXPECT_EQ(with("[{}]"),
            "failed to parse plugin config 0: error parsing configuration: missing 'type'");
  EXPECT_EQ(with(R"([{"type":"a"},null])"),
            "failed to parse plugin config 1: error parsing configuration: missing 'type'");
  EXPECT_THAT(with(R"(["a"])"),
              StartsWith("failed to parse plugin config 0: error parsing configuration: "));
}

// L11, the two cases without files.
TEST(ConfListPlugins, MayBeAbsentUnlessOnlyInlinedOnesCount) {
  EXPECT_EQ(refusal(R"({"name":"n","loadOnlyInlinedPlugins":true})"),
            cat(kPrefix, "`loadOnlyInlinedPlugins` is true, and no 'plugins' key"));
  EXPECT_TRUE(parse_conflist(R"({"name":"n"})")->plugins.empty());
}

TEST(ConfList, ReportsTheFirstFaultInTheOrderOfTheSpecification) {
  EXPECT_EQ(refusal(R"({"plugins":[],"disableGC":1,"disableCheck":1,"cniVersion":1,"name":"n"})"),
            cat(kPrefix, "invalid cniVersion type float64"));
  EXPECT_EQ(refusal(R"({"plugins":[],"disableGC":1,"disableCheck":1,"name":"n"})"),
            cat(kPrefix, "invalid type float64 for disableCheck"));
  EXPECT_EQ(refusal(R"({"plugins":[],"disableGC":1,"name":"n"})"),
            cat(kPrefix, "invalid type float64 for disableGC"));
}

TEST(ConfList, KeepsItsBytesAndEveryPluginsMembers) {
  constexpr std::string_view kText =
      "{ \"name\":\"n\",\"plugins\":[{\"type\":\"t\",\"big\":12345678901234567890,\"z\":1.50}] }\n";

  const auto list = parse_conflist(kText).value();

  EXPECT_EQ(list.bytes, kText);
  ASSERT_EQ(list.plugins.size(), 1u);
  EXPECT_EQ(list.plugins[0].bytes, R"({"type":"t","big":12345678901234567890,"z":1.50})");
}

// L18, L23.
TEST(ConfListOfConf, CarriesNameAndVersionEvenIfEmptyAndLiftsNoListLevelKeys) {
  const auto conf =
      parse_conf(R"({"type":"t","disableCheck":true,"cniVersions":["1.0.0"],"name":"s"})").value();

  const auto list = conflist_of(conf).value();

  EXPECT_EQ(
      list.bytes,
      R"({"name":"s","cniVersion":"","plugins":[{"type":"t","disableCheck":true,"cniVersions":["1.0.0"],"name":"s"}]})");
  EXPECT_FALSE(list.disable_check);
  EXPECT_EQ(list.version, "");
  EXPECT_EQ(list.plugins.at(0).type, "t");
}

TEST(ConfListWithPlugins, IsCompleteInItsBytesToo) {
  const auto list = parse_conflist(R"({"cniVersion":"1.0.0","x":1,"name":"n"})").value();
  const auto more = parse_conf(R"({"type":"b","y":12345678901234567890})").value();

  const auto whole = with_plugins(with_plugins(list, {more}).value(), {more}).value();

  EXPECT_EQ(
      whole.bytes,
      R"({"cniVersion":"1.0.0","x":1,"name":"n","plugins":[{"type":"b","y":12345678901234567890},{"type":"b","y":12345678901234567890}]})");
  EXPECT_EQ(parse_conflist(whole.bytes)->plugins.size(), whole.plugins.size());
  EXPECT_EQ(with_plugins(list, {})->bytes, list.bytes);
}

}  // namespace
}  // namespace mnet::cni
