#include "model/nad.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "json/json.h"
#include "model/delegate.h"
#include "model/inject.h"
#include "model/networks_annotation.h"
#include "model/objects.h"
#include "model/selection_element.h"

namespace mnet::model {
namespace {

using testing::HasSubstr;

NetworkDefinition definition(const std::string& config) {
  NetworkDefinition definition;
  definition.ns = "ns1";
  definition.name = "nad";
  definition.config = config;
  return definition;
}

json::Value config_of(const Delegate& delegate) { return json::parse(delegate.bytes).value(); }
json::Value value(const std::string& text) { return json::parse(text).value(); }

Result<Delegate> injected(const std::string& config, Injection injection) {
  return with_injection(parse_delegate(config).value(), injection);
}

json::Object object(const std::string& text) { return json::parse_object(text).value(); }

// 02, 12: row 53
TEST(Definition, GivesItsNameToAConfigurationWithoutOne) {
  for (const char* config :
       {R"({"type":"t"})", R"({"type":"t","name":""})", R"({"type":"t","name":null})"}) {
    auto text = configuration_of(definition(config));
    ASSERT_TRUE(text) << config;
    EXPECT_EQ(value(*text), value(R"({"type":"t","name":"nad"})")) << config;
  }
  EXPECT_EQ(*configuration_of(definition(R"({"name" : "other","type":"t"})")),
            R"({"name" : "other","type":"t"})");
}

TEST(Definition, LooksOnlyForTheExactKeyOfTheName) {
  auto text = configuration_of(definition(R"({"Name":"x","type":"t"})"));
  ASSERT_TRUE(text);
  auto delegate = parse_delegate(*text);
  ASSERT_TRUE(delegate);
  EXPECT_EQ(delegate->cni_name, "nad");
}

// To Go this is a conf of the type `safe`; to a reader for which null replaces, a list of `other`.
TEST(Definition, MustNotMeanDifferentThingsToDifferentReaders) {
  NetworkDefinition definition;
  definition.name = "n";
  definition.config = R"({"type":"safe","type":null,"plugins":[{"type":"other"}]})";

  const auto text = configuration_of(definition);

  ASSERT_FALSE(text.has_value());
  EXPECT_THAT(text.error().text(), HasSubstr(R"(the key "type" is repeated)"));
  definition.config = R"({"name":"a","mtu":1,"type":"x","mtu":2})";  // the same to all
  EXPECT_EQ(configuration_of(definition).value(), *definition.config);
}

TEST(Definition, LeavesANameOfAnotherTypeToTheDelegatesChecks) {
  auto text = configuration_of(definition(R"({"name":5,"type":"t"})"));
  ASSERT_TRUE(text);
  EXPECT_THAT(parse_delegate(*text).error().text(),
              HasSubstr("error unmarshalling delegate config"));
}

TEST(Definition, HoldsNoConfigurationWhenItIsEmptyButDoesWhenBlank) {
  EXPECT_FALSE(has_configuration(definition("")));
  EXPECT_FALSE(has_configuration(NetworkDefinition()));
  EXPECT_TRUE(has_configuration(definition(" ")));
}

// 02, 12: row 76
TEST(CniArgs, AreSetMergedAndPutIntoEveryPlugin) {
  EXPECT_EQ(config_of(*injected(R"({"name":"n","type":"t"})", {"", object(R"({"a":1})")})),
            value(R"({"name":"n","type":"t","args":{"cni":{"a":1}}})"));
  EXPECT_EQ(config_of(*injected(R"({"name":"n","type":"t","args":{"x":{}}})",
                                {"", object(R"({"a":1})")})),
            value(R"({"name":"n","type":"t","args":{"x":{},"cni":{"a":1}}})"));
  EXPECT_EQ(config_of(*injected(R"({"name":"n","type":"t","args":{"cni":{"a":0,"b":2}}})",
                                {"", object(R"({"a":1})")})),
            value(R"({"name":"n","type":"t","args":{"cni":{"a":1,"b":2}}})"));
  EXPECT_EQ(config_of(*injected(R"({"name":"n","plugins":[{"type":"t"},{"type":"u","args":{}}]})",
                                {"", object(R"({"a":1})")})),
            value(R"({"name":"n","plugins":[{"type":"t","args":{"cni":{"a":1}}},
                      {"type":"u","args":{"cni":{"a":1}}}]})"));
}

// 02, 12: row 77
TEST(CniArgs, AreRefusedWhereArgsAreNoObject) {
  for (const char* args : {R"("x")", "5", "[]", R"({"cni":"x"})", R"({"cni":[]})"}) {
    const std::string conf = std::string(R"({"name":"n","type":"t","args":)") + args + "}";
    auto conf_error = injected(conf, {"", json::Object()});
    ASSERT_FALSE(conf_error) << args;
    EXPECT_THAT(conf_error.error().text(), HasSubstr("args")) << args;
    const std::string list = std::string(R"({"name":"n","plugins":[{"type":"t"},)") + conf + "]}";
    EXPECT_THAT(injected(list, {"", json::Object()}).error().text(), HasSubstr("plugins[1]"));
  }
  EXPECT_TRUE(injected(R"({"name":"n","type":"t","args":"x"})", {"dev", std::nullopt}));
}

// 02, 12: row 55
TEST(Injection, KeepsNumbersAsTheyAre) {
  auto delegate = injected(
      R"({"name":"n","type":"t","i":9223372036854775807,"j":18446744073709551615,"e":1e400})",
      {"0000:00:00.1", object(R"({"id":9007199254740995})")});

  ASSERT_TRUE(delegate);
  EXPECT_THAT(delegate->bytes, HasSubstr(R"("i":9223372036854775807)"));
  EXPECT_THAT(delegate->bytes, HasSubstr(R"("j":18446744073709551615)"));
  EXPECT_THAT(delegate->bytes, HasSubstr("1e400"));
  EXPECT_THAT(delegate->bytes, HasSubstr("9007199254740995"));
  // What is run is what is stored.
  EXPECT_EQ(json::Value(delegate->list->plugins[0].object), config_of(*delegate));
}

TEST(Injection, IntoAnUntouchedTextChangesNothing) {
  const std::string text = "{ \"name\":\"n\" , \"type\":\"t\" }";
  EXPECT_EQ(injected(text, {})->bytes, text);
}

TEST(Injection, WritesADeviceAtTheTopOfAConfThatAlsoHasPlugins) {
  EXPECT_EQ(
      config_of(*injected(R"({"name":"n","type":"t","deviceID":"old","plugins":[{"type":"u"}]})",
                          {"new", std::nullopt})),
      value(R"({"name":"n","type":"t","deviceID":"new","pciBusID":"new",
                      "plugins":[{"type":"u"}]})"));
}

TEST(Injection, NeedsThePluginsOfAListUnderTheirExactKey) {
  EXPECT_THAT(
      injected(R"({"name":"n","Plugins":[{"type":"t"}]})", {"d", std::nullopt}).error().text(),
      HasSubstr("unable to get plugin list"));
}

// 02, 12: row 82
TEST(Fulfil, KeepsADeviceOfTheElementOutOfTheConfiguration) {
  NetworkSelectionElement selection;
  selection.ns = "ns1";
  selection.name = "nad";
  selection.device_id = "0000:00:00.7";
  const Delegate loaded = parse_delegate(R"({"name":"n","type":"t"})").value();

  auto wished = fulfil(loaded, selection, {});
  ASSERT_TRUE(wished);
  EXPECT_EQ(wished->bytes, loaded.bytes);
  EXPECT_EQ(wished->selection.device_id, "0000:00:00.7");
  EXPECT_EQ(wished->selection.resource_name, "");

  auto given = fulfil(loaded, selection, {.resource_name = "r", .id = "0000:00:00.8"});
  ASSERT_TRUE(given);
  EXPECT_EQ(given->selection.device_id, "0000:00:00.8");
  EXPECT_EQ(given->selection.resource_name, "r");
  EXPECT_THAT(given->bytes, HasSubstr("0000:00:00.8"));
  EXPECT_EQ(json::dump(given->attributes), R"({"deviceID":"0000:00:00.7"})");
}

TEST(Fulfil, NamesTheDelegateAfterItsDefinitionAndNotItsNetwork) {
  NetworkSelectionElement selection;
  selection.ns = "ns1";
  selection.name = "nad";

  auto delegate = fulfil(parse_delegate(R"({"name":"n","type":"t"})").value(), selection, {});

  ASSERT_TRUE(delegate);
  EXPECT_EQ(delegate->name, "ns1/nad");
  EXPECT_EQ(delegate->cni_name, "n");
  EXPECT_EQ(delegate->list->name, "n");
}

TEST(Fulfil, RemembersWhatWasWishedAsItWasWritten) {
  auto elements = parse_networks_annotation(
      R"([{"name":"a","interface":"x0","ips":[],"mac":"02:00:00:00:00:01","bandwidth":
          {"ingressRate":1},"portMappings":[{"hostPort":80,"containerPort":8080}],
          "cni-args":{"b":[1]},"default-route":["10.0.0.1"]}])",
      "ns1");
  ASSERT_TRUE(elements);

  EXPECT_EQ(json::Value(attributes_of(elements->front())),
            value(R"({"ips":[],"mac":"02:00:00:00:00:01",
                      "bandwidth":{"ingressRate":1,"ingressBurst":0,"egressRate":0,"egressBurst":0},
                      "portMappings":[{"hostPort":80,"containerPort":8080}],
                      "cni-args":{"b":[1]},"default-route":["10.0.0.1"]})"));
}

// Readers would differ in which of the two is the name.
TEST(Definition, HasItsNameInOneSpelling) {
  auto text = configuration_of(definition(R"({"Name":"other","type":"x"})"));
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, R"({"type":"x","name":"nad"})");

  const auto delegate = parse_delegate(R"({"name":"a","NAME":"b","type":"x"})").value();
  EXPECT_EQ(check_types(delegate, "").error().text(),
            R"(the key "name" is there in two spellings)");
}

}  // namespace
}  // namespace mnet::model
