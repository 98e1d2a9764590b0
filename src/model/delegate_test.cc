#include "model/delegate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mnet::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const std::string& text) {
  auto delegate = parse_delegate(text);
  return delegate ? "no error" : delegate.error().text();
}

TEST(Delegate, KeepsItsTextByteForByte) {
  const std::string text = "{ \"name\" : \"n\",\n \"type\":\"t\" }";
  auto delegate = parse_delegate(text);

  ASSERT_TRUE(delegate);
  EXPECT_EQ(delegate->bytes, text);
  EXPECT_EQ(delegate->name, "n");
  EXPECT_FALSE(delegate->is_list);
  EXPECT_THAT(delegate->types, ElementsAre("t"));
  EXPECT_EQ(delegate->list->plugins.size(), 1u);
}

TEST(Delegate, WithATypeIsAConfEvenWithPlugins) {
  EXPECT_FALSE(parse_delegate(R"({"name":"n","type":"t","plugins":[{"type":"u"}]})")->is_list);
}

// 02, 12: row 5
TEST(Delegate, RefusesPluginsThatAreNone) {
  EXPECT_THAT(error_of(R"({"name":"l","plugins":[]})"), HasSubstr("must have the 'type' field"));
  EXPECT_THAT(error_of(R"({"name":"l","plugins":[null]})"),
              HasSubstr("must have the 'type' field"));
  EXPECT_THAT(error_of(R"({"name":"l","plugins":[{"type":"a"},{}]})"),
              HasSubstr("a plugin delegate must have the 'type' field"));
  EXPECT_THAT(error_of(R"({"name":"l","plugins":[5]})"),
              HasSubstr("error unmarshalling delegate conflist"));
  EXPECT_THAT(error_of(R"({"name":"l","plugins":{}})"),
              HasSubstr("error unmarshalling delegate conflist"));
  EXPECT_THAT(error_of(R"({"name":"l","plugins":null})"),
              HasSubstr("delegate must have the 'type' or 'plugin' field"));
}

TEST(Delegate, ChecksTheTypesOfKnownMembersEverywhere) {
  for (const std::string member :
       {R"("cniVersion":1)", R"("name":1)", R"("type":1)", R"("capabilities":{"a":1})",
        R"("ipam":"x")", R"("ipam":{"type":1})", R"("dns":{"search":1})", R"("prevResult":[])",
        R"("cni.dev/valid-attachments":[1])"}) {
    EXPECT_THAT(error_of("{\"plugins\":[{\"type\":\"t\"}]," + member + "}"),
                HasSubstr("error unmarshalling delegate config"))
        << member;
    EXPECT_THAT(error_of(R"({"name":"l","plugins":[{"type":"t"},{)" + member + "}]}"),
                HasSubstr("error unmarshalling delegate conflist"))
        << member;
  }
  EXPECT_THAT(error_of("{"), HasSubstr("error unmarshalling delegate config"));
  EXPECT_THAT(error_of("[]"), HasSubstr("error unmarshalling delegate config"));
}

TEST(Delegate, LoadsWhatOnlyFailsWhenItIsRun) {
  auto nameless = parse_delegate(R"({"plugins":[{"type":"t"}]})");
  ASSERT_TRUE(nameless);
  EXPECT_THAT(nameless->list.error().text(), HasSubstr("no name"));

  auto odd = parse_delegate(R"({"name":"l","Plugins":[{"type":"t"}]})");
  ASSERT_TRUE(odd);
  EXPECT_THAT(odd->list.error().text(), HasSubstr("no plugins"));
}

TEST(Delegate, GetsAVersionAndNothingElse) {
  EXPECT_EQ(
      with_cni_version(R"({"name":"l","big":9223372036854775807,"plugins":[]})", "1.0.0").value(),
      R"({"name":"l","big":9223372036854775807,"plugins":[],"cniVersion":"1.0.0"})");
  EXPECT_FALSE(with_cni_version("[]", "1.0.0"));
}

}  // namespace
}  // namespace mnet::model
