#include "cni_node/template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"

namespace mnet::cni_node {
namespace {

using testing::ElementsAre;

std::string expanded(std::string_view text) {
  const std::map<std::string, std::string> files = {{"10-calico.conflist", "{\"x\":1}"},
                                                    {"10-c.conflist", "{\"x\":1}\n\n"},
                                                    {"a.conf", "A"},
                                                    {"b.json", "B\n"},
                                                    {"noext", "N"},
                                                    {"two", "1\n2\n"},
                                                    {"_a", "U"},
                                                    {"_a.conf", "V"},
                                                    {"nest.conf", "\"__a.conf__\""},
                                                    {"x.conf", "X"}};
  const auto out = expand_pointers(text, [&](const std::string& name) -> Result<std::string> {
    const auto found = files.find(name);
    if (found == files.end()) return Error(Errc::kNotFound, cat("no ", name));
    return found->second;
  });
  return out ? *out : cat("error: ", out.error().text());
}

struct Case {
  std::string_view text, result;
  friend std::ostream& operator<<(std::ostream& out, const Case& one) {
    return out << go_quoted(one.text);
  }
};
class Template : public testing::TestWithParam<Case> {};

TEST_P(Template, Expands) { EXPECT_EQ(expanded(GetParam().text), GetParam().result); }

// 04, 4: rows 33 to 36, 38, 39 and 42.
INSTANTIATE_TEST_SUITE_P(
    Pointers, Template,
    testing::Values(
        // A line that is a pointer goes as a whole, indentation and carriage return included.
        Case{"[\n   __10-calico.conflist__\n]\n", "[\n{\"x\":1}\n]\n"},
        Case{"\t__10-c.conflist__ \r\n]", "{\"x\":1}\n]\n"}, Case{"__noext__", "N\n"},
        Case{"__two__\n", "1\n2\n"},
        // Inside a line only the pointer does, and only of a CNI configuration.
        Case{"{\"d\":[ __10-c.conflist__ ]}", "{\"d\":[ {\"x\":1} ]}\n"},
        Case{"[__a.conf__, __b.json__]", "[A, B]\n"}, Case{"__a.conf__,\n", "A,\n"},
        Case{"__a.conf____b.json__", "AB\n"}, Case{"{\"my__var__x\":1}", "{\"my__var__x\":1}\n"},
        Case{"x __noext__", "x __noext__\n"},
        // The shortest name; then one byte further.
        Case{"___a__", "U\n"}, Case{"my__var__x.conf__", "my__varX\n"},
        Case{"____a.conf__", "_V\n"}, Case{"__a.conf___", "A_\n"}, Case{"__", "__\n"},
        Case{"____", "____\n"}, Case{"_____", "error: no _"}, Case{"__a.conf_", "__a.conf_\n"},
        Case{"__../secret.conf__", "__../secret.conf__\n"}, Case{"__.conf__", "__.conf__\n"},
        Case{"__a b.conf__", "__a b.conf__\n"}, Case{"__a\n.conf__", "__a\n.conf__\n"},
        Case{"__*.conf__", "__*.conf__\n"},
        // What is inserted is not looked at again.
        Case{"[\n__nest.conf__\n]", "[\n\"__a.conf__\"\n]\n"},
        // Nothing else is touched.
        Case{"", ""}, Case{"-n", "-n\n"}, Case{"-e\n", "-e\n"}, Case{"a\n\n\n", "a\n\n\n"},
        Case{"$HOME `x` \\n", "$HOME `x` \\n\n"}, Case{"\xff\xfe\n", "\xff\xfe\n"},
        Case{"__missing.conf__", "error: no missing.conf"}));

TEST(TemplateText, MayNotHaveANul) {
  EXPECT_EQ(expanded(std::string_view("a\0b", 3)), "error: the template has a NUL byte");
}

TEST(TemplateText, MayNotGrowWithoutEnd) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "__a.conf__\n";

  const auto expanded = expand_pointers(
      text, [](const std::string&) { return Result<std::string>(std::string(1u << 20, 'x')); });

  ASSERT_FALSE(expanded.has_value());
  EXPECT_THAT(expanded.error().text(), testing::HasSubstr("larger than"));
}

TEST(TemplateText, NamesItsPointersOnce) {
  EXPECT_THAT(pointers_in("__x__\n[__a.conf__, __b.json__, __a.conf__, __no__]"),
              ElementsAre("x", "a.conf", "b.json"));
}

TEST(TemplateText, IsMultusByItsTypeOrThatOfItsFirstPlugin) {
  EXPECT_TRUE(is_multus(R"({"type":"multus"})"));
  EXPECT_TRUE(is_multus(R"({"type":"multus-cni"})"));
  EXPECT_TRUE(is_multus(R"({"plugins":[{"type":"multus-shim"},{"type":"x"}]})"));
  EXPECT_FALSE(is_multus(R"({"plugins":[{"type":"x"},{"type":"multus"}]})"));
  EXPECT_FALSE(is_multus(R"({"type":"calico"})"));
  EXPECT_FALSE(is_multus("multus"));
  EXPECT_FALSE(is_multus(R"({"plugins":[]})"));
}

}  // namespace
}  // namespace mnet::cni_node
