#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "json/json.h"
#include "wire/wire.h"

namespace mnet::wire {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

std::string config_of(std::string_view member) {
  const auto request = parse_request(cat(R"({"config":)", member, "}"));
  EXPECT_TRUE(request.has_value()) << member;
  return request ? request->config : "";
}

TEST(RequestText, HasUpstreamsOrderAndLeavesOutWhatIsEmpty) {
  const Request request{.env = {{"CNI_NETNS", ""}, {"CNI_COMMAND", "ADD"}, {"CNI_NETNS", "late"}},
                        .config = "{}",
                        .attributes = std::nullopt};

  EXPECT_EQ(to_text(request), R"({"env":{"CNI_COMMAND":"ADD","CNI_NETNS":""},"config":"e30="})");
  EXPECT_EQ(to_text(Request{}), "{}");
}

TEST(RequestText, AlwaysWritesCniArgsOfAttributes) {
  Request request;
  request.attributes = InterfaceAttributes{};
  EXPECT_EQ(to_text(request), R"({"interfaceAttributes":{"cni-args":null}})");

  request.attributes = InterfaceAttributes{
      .ips = {"10.0.0.5/24"}, .mac = "02:00:00:00:00:01", .cni_args = json::Object{{"k", 1}}};
  EXPECT_EQ(to_text(request),
            R"({"interfaceAttributes":{"ips":["10.0.0.5/24"],"mac":"02:00:00:00:00:01",)"
            R"("cni-args":{"k":1}}})");
}

TEST(RequestText, ReplacesBytesThatAreNotUtf8) {
  const Request request{
      .env = {{"CNI_X", "a\xff\n<"}}, .config = "\xff", .attributes = std::nullopt};

  EXPECT_EQ(to_text(request),
            "{\"env\":{\"CNI_X\":\"a\xef\xbf\xbd\\n\\u003c\"},\"config\":\"/w==\"}");
}

TEST(ParseRequest, RefusesANulByteInAVariable) {
  const auto request = parse_request(R"({"env":{"CNI_IFNAME":"eth0\u0000x"}})");

  ASSERT_FALSE(request.has_value());
  EXPECT_EQ(request.error().text(), "env.CNI_IFNAME: contains a NUL byte");
}

// 03, 12: row 26.
TEST(ParseRequest, TakesNullAndAnEmptyObjectForAnEmptyRequest) {
  for (const char* body : {"null", "{}", R"({"env":null,"config":null})"}) {
    const auto request = parse_request(body);

    ASSERT_TRUE(request.has_value()) << body;
    EXPECT_THAT(request->env, IsEmpty());
    EXPECT_EQ(request->config, "");
  }
}

// 03, 12: rows 27 and 28, and bodies that are none.
TEST(ParseRequest, RefusesWhatIsNoRequest) {
  for (const char* body : {
           "",
           "hello",
           "[]",
           "5",
           R"({"env":{"A":5}})",
           R"({"env":[]})",
           R"({"env":"x"})",
           R"({"config":"{}"})",
           R"({"config":"YQ"})",
           R"({"config":"-_-_"})",
           R"({"config":5})",
           R"({"config":[256]})",
           R"({"config":[-1]})",
           R"({"config":["a"]})",
           R"({"interfaceAttributes":[]})",
           R"({"interfaceAttributes":{"ips":"x"}})",
           R"({"interfaceAttributes":{"cni-args":[]}})",
           "{}x",
       }) {
    EXPECT_FALSE(parse_request(body).has_value()) << body;
  }
}

TEST(ParseRequest, RefusesNestingBeyondTheLimit) {
  EXPECT_FALSE(parse_request(std::string(2000, '[') + std::string(2000, ']')).has_value());
}

// 03, 12: row 30.
TEST(ParseRequest, BuildsNothingOfTooManyValues) {
  std::string zeros = "0";
  while (zeros.size() < 2 * kMostRequestValues) zeros += ",0";
  EXPECT_THAT(parse_request(cat(R"({"x":[)", zeros, "]}")).error().text(),
              testing::HasSubstr("values, more than 20000"));
  while (zeros.size() < 2 * kMostConfigValues) zeros += ",0";
  EXPECT_THAT(parse_config(cat(R"({"x":[)", zeros, "]}")).error().text(),
              testing::HasSubstr("values, more than 100000"));
}

TEST(ParseRequest, TakesConfigAsBase64BytesOrObject) {
  EXPECT_EQ(config_of(R"("eyJh\r\nIjoxfQ==")"), R"({"a":1})");
  EXPECT_EQ(config_of("[123,125]"), "{}");
  EXPECT_EQ(config_of("[]"), "");
  EXPECT_EQ(config_of(R"({"b": 1.50, "a": "<"})"), R"({"b":1.50,"a":"<"})");
}

// 03, 12: row 31; null in a map of strings is the empty text.
TEST(ParseRequest, TakesMembersInAnyLetterCaseAndIgnoresOthers) {
  const auto request = parse_request(R"({"ENV":{"CNI_COMMAND":null},"Config":"e30=","more":[1]})");

  ASSERT_TRUE(request.has_value());
  EXPECT_THAT(request->env, ElementsAre(Pair("CNI_COMMAND", "")));
  EXPECT_EQ(request->config, "{}");
}

// 03, 12: row 69.
TEST(ParseRequest, TakesTheAliasesOfOlderDocumentsAndPrefersTheRealNames) {
  const auto aliases = parse_request(
      R"({"interfaceAttributes":{"MacRequest":"m","IPRequest":["i"],"CNIArgs":{"k":"v"}}})");
  const auto both = parse_request(
      R"({"interfaceAttributes":{"mac":"real","MacRequest":"m","ips":["real"],"IPRequest":["i"]}})");

  ASSERT_TRUE(aliases.has_value() && aliases->attributes);
  EXPECT_EQ(aliases->attributes->mac, "m");
  EXPECT_THAT(aliases->attributes->ips, ElementsAre("i"));
  EXPECT_EQ(json::dump(*aliases->attributes->cni_args), R"({"k":"v"})");
  ASSERT_TRUE(both.has_value() && both->attributes);
  EXPECT_EQ(both->attributes->mac, "real");
  EXPECT_THAT(both->attributes->ips, ElementsAre("real"));
}

TEST(ParseRequest, SaysWhichFieldIsWrong) {
  EXPECT_THAT(parse_request(R"({"env":{"A":5}})").error().text(), HasSubstr("env.A"));
}

TEST(ParseRequest, ReadsBackWhatToTextWrote) {
  const Request request{
      .env = {{"A", "1"}, {"B", "=;\n"}},
      .config = std::string("\0\x01{}", 4),
      .attributes = InterfaceAttributes{.ips = {"x"}, .mac = "y", .cni_args = {}}};

  const auto back = parse_request(to_text(request));

  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->env, request.env);
  EXPECT_EQ(back->config, request.config);
  EXPECT_EQ(to_text(*back), to_text(request));
}

TEST(DelegateRequest, HasExactlyTheVariablesThatClientsSend) {
  const Request request = delegate_request({.command = "add",
                                            .container_id = "c1",
                                            .netns = "/n",
                                            .ifname = "net1",
                                            .pod_namespace = "ns",
                                            .pod_name = "p",
                                            .pod_uid = "u"},
                                           "{}", std::nullopt);

  EXPECT_THAT(request.env,
              ElementsAre(Pair("CNI_COMMAND", "ADD"), Pair("CNI_CONTAINERID", "c1"),
                          Pair("CNI_NETNS", "/n"), Pair("CNI_IFNAME", "net1"),
                          Pair("CNI_ARGS", "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=p;K8S_POD_UID=u")));
}

}  // namespace
}  // namespace mnet::wire
