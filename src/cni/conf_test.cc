#include "cni/conf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "json/json.h"

namespace mnet::cni {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::StartsWith;

std::string refusal(std::string_view text) {
  const auto conf = parse_conf(text);
  return conf ? "taken" : conf.error().text();
}

TEST(PluginConf, IsReadBesideItsOriginalBytes) {
  constexpr std::string_view kText =
      " {\"TYPE\":\"bridge\", \"name\":\"n\",\"cniVersion\":\"1.0.0\",\"big\":12345678901234567890,"
      "\"capabilities\":{\"mac\":true,\"ips\":false,\"dns\":null},\"ipam\":{\"type\":\"host-"
      "local\",\"x\":1}}\n";

  const auto conf = parse_conf(kText).value();

  EXPECT_EQ(conf.bytes, kText);
  EXPECT_EQ(conf.type, "bridge");
  EXPECT_EQ(conf.name, "n");
  EXPECT_EQ(conf.version, "1.0.0");
  EXPECT_EQ(conf.ipam_type, "host-local");
  EXPECT_THAT(conf.capabilities,
              ElementsAre(Pair("mac", true), Pair("ips", false), Pair("dns", false)));
  EXPECT_EQ(json::dump(*conf.object.find("big")), "12345678901234567890");
}

TEST(PluginConf, NeedsAType) {
  EXPECT_EQ(refusal("{}"), "error parsing configuration: missing 'type'");
  EXPECT_EQ(refusal(R"({"type":""})"), "error parsing configuration: missing 'type'");
  EXPECT_EQ(refusal(R"({"type":null})"), "error parsing configuration: missing 'type'");
  EXPECT_EQ(refusal("null"), "error parsing configuration: missing 'type'");
}

// L10.
TEST(PluginConf, RefusesAWrongTypeInAnyKnownMember) {
  EXPECT_EQ(refusal(R"({"type":"t","ipam":"host-local"})"),
            "error parsing configuration: ipam: expected an object, got a string");
  EXPECT_EQ(refusal(R"({"type":"t","capabilities":{"m":"true"}})"),
            "error parsing configuration: capabilities.m: expected a boolean, got a string");
  for (const std::string_view text :
       {"", "{", "[]", "5", R"({"type":5})", R"({"type":"t","name":5})",
        R"({"type":"t","cniVersion":1})", R"({"type":"t","ipam":{"type":1}})",
        R"({"type":"t","capabilities":[]})", R"({"type":"t","dns":[]})",
        R"({"type":"t","dns":{"nameservers":"x"}})", R"({"type":"t","prevResult":[]})",
        R"({"type":"t","cni.dev/valid-attachments":{}})",
        R"({"type":"t","cni.dev/valid-attachments":[{"ifname":1}]})", R"({"type":"t"}x)"}) {
    EXPECT_THAT(refusal(text), StartsWith("error parsing configuration: ")) << text;
  }
}

TEST(PluginConf, TakesNullAndUnknownMembersAsTheyAre) {
  EXPECT_EQ(
      refusal(
          R"({"type":"t","name":null,"ipam":null,"dns":null,"capabilities":null,"prevResult":null,"cni.dev/valid-attachments":null,"other":[null]})"),
      "taken");
}

TEST(Inject, AddsAndReplacesMembersOfTheOriginalObject) {
  const auto conf = parse_conf(R"({"type":"t","a":1,"big":12345678901234567890})").value();

  const auto injected = inject(conf, {{"a", "x"}, {"b", json::Object{{"c", 2}}}}).value();

  EXPECT_EQ(injected.bytes, R"({"a":"x","b":{"c":2},"big":12345678901234567890,"type":"t"})");
  EXPECT_EQ(inject(conf, {{"type", "u"}})->type, "u");
}

// L24.
TEST(Inject, RefusesEmptyKeysNullValuesAndBytesThatAreNoObject) {
  const auto conf = parse_conf(R"({"type":"t"})").value();
  PluginConf broken;
  broken.bytes = "{";

  EXPECT_EQ(inject(conf, {{"", 1}}).error().text(), "keys cannot be empty");
  EXPECT_EQ(inject(conf, {{"", nullptr}}).error().text(), "keys cannot be empty");
  EXPECT_EQ(inject(conf, {{"test", nullptr}}).error().text(), "key 'test' value must not be nil");
  EXPECT_THAT(inject(broken, {{"a", 1}}).error().text(),
              StartsWith("unmarshal existing network bytes: "));
  EXPECT_EQ(inject(conf, {{"type", ""}}).error().text(),
            "error parsing configuration: missing 'type'");
}

std::string stdin_of(std::string_view conf, const json::Value& prev_result = {},
                     const json::Object& capability_args = {}) {
  return plugin_stdin(parse_conf(conf).value(), "net", "1.0.0", prev_result, capability_args)
      .value();
}

// X1, X2.
TEST(PluginStdin, CarriesTheNetworksNameAndVersionOverTheConfsOwn) {
  EXPECT_EQ(stdin_of(R"({"type":"t","name":"own","cniVersion":"0.1.0"})"),
            R"({"cniVersion":"1.0.0","name":"net","type":"t"})");
  EXPECT_EQ(
      plugin_stdin(parse_conf(R"({"type":"t","cniVersion":"0.4.0"})").value(), "n", "", {}, {})
          .value(),
      R"({"cniVersion":"","name":"n","type":"t"})");
}

// In a sorted text `cniversion` would come after `cniVersion`, and a Go plugin would take it.
TEST(PluginStdin, LeavesNoOtherSpellingOfWhatItSets) {
  EXPECT_EQ(
      stdin_of(
          R"({"type":"t","NAME":"x","cniversion":"0.1.0","prevresult":{"a":1},"mtu":1,"Mtu":2})",
          json::Object{{"cniVersion", "0.4.0"}}),
      R"({"Mtu":2,"cniVersion":"1.0.0","mtu":1,"name":"net",)"
      R"("prevResult":{"cniVersion":"0.4.0"},"type":"t"})");
}

TEST(PluginStdin, CarriesThePreviousResultIfThereIsOne) {
  EXPECT_EQ(
      stdin_of(R"({"type":"t"})", json::Object{{"cniVersion", "0.4.0"}}),
      R"({"cniVersion":"1.0.0","name":"net","prevResult":{"cniVersion":"0.4.0"},"type":"t"})");
  EXPECT_EQ(stdin_of(R"({"type":"t","prevResult":{"a":1}})"),
            R"({"cniVersion":"1.0.0","name":"net","prevResult":{"a":1},"type":"t"})");
}

// X3.
TEST(PluginStdin, OffersOnlyCapabilitiesThatTheConfDeclares) {
  EXPECT_EQ(
      stdin_of(
          R"({"type":"t","capabilities":{"portMappings":true,"other":true,"no":false,"nul":true}})",
          {}, {{"portMappings", json::Array{}}, {"no", 1}, {"unlisted", 2}, {"nul", nullptr}}),
      R"({"capabilities":{"no":false,"nul":true,"other":true,"portMappings":true},"cniVersion":"1.0.0","name":"net",)"
      R"("runtimeConfig":{"nul":null,"portMappings":[]},"type":"t"})");
}

// X4.
TEST(PluginStdin, LeavesTheAdministratorsRuntimeConfigWhenNothingReplacesIt) {
  constexpr std::string_view kConf =
      R"({"type":"t","capabilities":{"mac":true},"runtimeConfig":{"own":1}})";

  EXPECT_EQ(
      stdin_of(kConf, {}, {{"ips", 1}}),
      R"({"capabilities":{"mac":true},"cniVersion":"1.0.0","name":"net","runtimeConfig":{"own":1},"type":"t"})");
  EXPECT_EQ(
      stdin_of(kConf, {}, {{"mac", "aa"}}),
      R"({"capabilities":{"mac":true},"cniVersion":"1.0.0","name":"net","runtimeConfig":{"mac":"aa"},"type":"t"})");
  EXPECT_EQ(stdin_of(R"({"type":"t"})", {}, {{"mac", "aa"}}),
            R"({"cniVersion":"1.0.0","name":"net","type":"t"})");
}

}  // namespace
}  // namespace mnet::cni
