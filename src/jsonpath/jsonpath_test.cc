#include "jsonpath/jsonpath.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "json/json.h"

namespace mnet::jsonpath {
namespace {

using testing::HasSubstr;

std::string evaluate(std::string_view object, std::string_view path) {
  const auto parsed = JsonPath::parse(path);
  if (!parsed) return parsed.error().text();
  const auto value = json::parse(object);
  EXPECT_TRUE(value.has_value()) << object;
  const auto text = parsed->evaluate(*value);
  return text ? *text : "error: " + text.error().text();
}

struct Case {
  std::string_view object, path, expected;
};

void check(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    EXPECT_EQ(evaluate(one.object, one.path), one.expected) << one.path;
  }
}

constexpr std::string_view kS = R"({"s":[{"n":"c1","i":"x<"},{"n":"c2"}]})";
constexpr std::string_view kA = R"({"a":[3,1,2]})";
constexpr std::string_view kMeta = R"({"metadata":{"name":"p","namespace":"n"}})";
constexpr std::string_view kConf = R"({"data":{"05-m.conf":"x\n"}})";

// 04, 4: row 93
TEST(JsonPath, GivesWhatTheTableOfTheSpecificationSays) {
  check({{R"({"data":{"plugins":"a,b"}})", "{.data.plugins}", "a,b"},
         {kConf, R"({.data.05-m\.conf})", "x\n"},
         {kConf, "{.data['05-m.conf']}", ""},
         {kConf, R"({.data['05-m\.conf']})", "x\n"},
         {R"({"*":"star","a":1})", R"({.\*})", "star"},
         {kMeta, "{.metadata.name}{.metadata.namespace}", "pn"},
         {kMeta, "{.metadata['name','namespace']}", "p n"},
         {kS, "{.s[*].n}", "c1 c2"},
         {kS, "{.s[-1].n}", "c2"},
         {kS, "{.s[0]}", R"({"i":"x\u003c","n":"c1"})"},
         {kS, R"({.s[?(@.n=="c2")].n})", "c2"},
         {kS, "{.s[?(@.i)].n}", "c1"},
         {kS, R"({range .s[*]}{.n}{"\n"}{end})", "c1\nc2\n"},
         {kA, "{.a[1:]}", "1 2"},
         {kA, "{.a[-2:]}", "1 2"},
         {kA, "{.a[0:3:2]}", "3 2"},
         {kA, "{.a[1:1]}", ""},
         {kA, "{.a[?(@>1)]}", "3 2"},
         {kA, "{.no.such[0].x}", ""}});
}

// 04, 4: row 93
TEST(JsonPath, KnowsEveryFormOfAnAction) {
  check({{R"({"b":1,"a":"x"})", "{}", R"({"a":"x","b":1})"},
         {R"({"b":1})", "{@}", R"({"b":1})"},
         {R"({"b":1})", "{$}", R"({"b":1})"},
         {R"({"b":1})", "", R"({"b":1})"},
         {R"({"b":1})", "{$.b}-{@.b}", "1-1"},
         {R"({"b":{"z":1,"a":2}})", "{.b.*}", "2 1"},
         {kA, "{.a[]}", "3"},
         {kA, "{.a[:]}", "3 1 2"},
         {kA, "{.a[:2]}", "3 1"},
         {kA, "{.a[0,2]}", "3 2"},
         {kA, "{.a[0, 2]}", "3 2"},
         {kA, "{.a[-1:]}", "2"},
         {kA, "{.a[::2]}", "3 2"},
         {kA, "{.a[*]}", "3 1 2"},
         {kA, "{.a.*}", "3 1 2"},
         {kS, "{..n}", "c1 c2"},
         {R"({"n":0,"a":{"n":1,"b":[{"n":2}]}})", "{..n}", "0 1 2"},
         {kS, "{.s[*]['n','i']}", "c1 c2 x<"},
         {kA, "v={.a[0]};", "v=3;"},
         {kA, "{'single \\'quotes\\''}", "single 'quotes'"},
         {kA, R"({"tab\t, \"quote\""})", "tab\t, \"quote\""},
         {kA, R"({"\u00e9\x41"})",
          "\xc3\xa9"
          "A"},
         {kA, "{3}{-4.50}{true}", "3-4.5true"},
         {R"({"a\\b":1,"c d":2})", R"({.c\ d})", "2"}});
}

TEST(JsonPath, FiltersByEveryComparison) {
  constexpr std::string_view kN =
      R"({"a":[{"v":1,"t":"x"},{"v":2.5,"t":"y"},{"v":10,"t":"z"},{"t":"none","b":true}]})";
  check({{kN, "{.a[?(@.v==1)].t}", "x"},
         {kN, "{.a[?(@.v==1.0)].t}", "x"},
         {kN, "{.a[?(@.v!=1)].t}", "y z"},
         {kN, "{.a[?(@.v<10)].t}", "x y"},
         {kN, "{.a[?(@.v<=10)].t}", "x y z"},
         {kN, "{.a[?(@.v>2)].t}", "y z"},
         {kN, "{.a[?( @.v >= 2.5 )].t}", "y z"},
         {kN, "{.a[?(@.b==true)].t}", "none"},
         {kN, "{.a[?(@.b)].t}", "none"},
         {kN, "{.a[?(@.t>='y')].t}", "y z"},
         {kN, R"({.a[?(@.t=="a)b")].t})", ""},
         {kN, "{.a[?(@.t==@.t)].v}", "1 2.5 10"},
         {kN, "{.a[?(@.nothing==@.t)].v}", ""}});
}

TEST(JsonPath, RangesMayLieInEachOtherAndMayLackTheirEnd) {
  constexpr std::string_view kNested =
      R"({"p":[{"n":"a","c":[{"i":1},{"i":2}]},{"n":"b","c":[]},{"n":"c"}]})";
  check({{kNested, R"({range .p[*]}{.n}:{range .c[*]}{.i},{end};{end}!)", "a:1,2,;b:;c:;!"},
         {kNested, "{range .p[*]}{.n} ", "a b c "},
         {kNested, "{range .none[*]}{.n}{end}x", "x"},
         {kNested, "{range .p[0].c[*]}{@.i}{end}{range .p[1:]}{.n}{end}", "12bc"}});
}

TEST(JsonPath, ShowsValuesAsGoDoes) {
  constexpr std::string_view kV =
      R"({"s":"a\"b","i":9007199254740993,"f":1.50,"e":1e3,"g":1e21,"t":0.00001,"h":123456789012345678901234,
          "n":null,"b":false,"o":{"z":"<&>","a":[1.0,1e-7,null,"\u2028"]},"l":[]})";
  check({{kV, "{.s}", "a\"b"},
         {kV, "{.i}", "9007199254740993"},
         {kV, "{.f}", "1.5"},
         {kV, "{.e}", "1000"},
         {kV, "{.g}", "1e+21"},
         {kV, "{.t}", "1e-05"},
         {kV, "{.h}", "1.2345678901234569e+23"},
         {kV, "{.n}", "null"},
         {kV, "{.b}", "false"},
         {kV, "{.l}", "[]"},
         {kV, "{.o}", R"({"a":[1,1e-7,null,"\u2028"],"z":"\u003c\u0026\u003e"})"}});
}

// 04, 4: row 93
TEST(JsonPath, RefusesATemplateAtOnceWithTheReason) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{.a", "unclosed action"},
      {"{", "unclosed action"},
      {"{.a\n}", "unclosed action"},
      {"{.a[0", "unterminated array"},
      {"{.a[0\n]}", "unterminated array"},
      {"{.a[?(@.b", "unterminated filter"},
      {"{.a[?(@.b==\"x)]}", "unterminated filter"},
      {"{.a[?(@.b)}", "unclosed array expect ]"},
      {"{\"x", "unterminated quoted string"},
      {"{'x\"}", "unterminated quoted string"},
      {"{.a[x]}", "invalid array index x"},
      {"{.a[\"x\"]}", "invalid array index \"x\""},
      {"{.a[1:2:3:4]}", "invalid array index 1:2:3:4"},
      {"{.a[-]}", "array index - is not a number"},
      {"{....a}", "invalid multiple recursive descent"},
      {"{metadata.name}", "unrecognized identifier metadata"},
      {"{.a[?(@.b==c)]}", "unrecognized identifier c"},
      {"{end}", "not in range, nothing to end"},
      {"{range .a[*]}{end}{end}", "not in range, nothing to end"},
      {"{.a[?(@.b=~\"x\")]}", "unrecognized character in action: U+007E '~'"},
      {"{.a[?(@.b==)]}", "unrecognized character in action: U+003D '='"},
      {"{.a[?(@.b=\"x\")]}", "unrecognized filter operator ="},
      {"{=}", "unrecognized character in action: U+003D '='"},
      {"{..*}", "unrecognized character in action: U+002A '*'"},
      {"{\"\\q\"}", "unquote string \"\\q\" error invalid syntax"},
      {"{-}", "cannot parse number -"},
      {"{.a[99999999999999999999]}", "array index 99999999999999999999 is not a number"},
  };
  for (const auto& [path, why] : cases) {
    const auto parsed = JsonPath::parse(path);
    ASSERT_FALSE(parsed.has_value()) << path;
    EXPECT_EQ(parsed.error().text(), cat("error parsing jsonpath ", path, ", ", why));
  }
}

TEST(JsonPath, HintsAtTheBracesThatAreMissing) {
  const auto parsed = JsonPath::parse(".data.fruits");

  ASSERT_FALSE(parsed.has_value());
  EXPECT_THAT(parsed.error().text(), HasSubstr("{.data.fruits}"));
}

// 04, 4: row 93
TEST(JsonPath, SaysWhatDoesNotFitInAnObject) {
  check({{kA, "{.a[3]}", "error: array index out of bounds: index 3, length 3"},
         {kA, "{.a[-4]}", "error: array index out of bounds: index -1, length 3"},
         {kA, "{.a[0:4]}", "error: array index out of bounds: index 3, length 3"},
         {kA, "{.a[2:1]}", "error: starting index 2 is greater than ending index 1"},
         {kA, "{.a[0:2:0]}", "error: step must be > 0"},
         {kS, "{.s[0].n[0]}", "error: string is not array or slice"},
         {kMeta, "{.metadata[*]}", "error: map[string]interface {} is not array or slice"},
         {kS, "{.s[?(@.n==1)]}", "error: incompatible types for comparison"},
         {R"({"a":[{"b":null}]})", "{.a[?(@.b==1)]}", "error: invalid type for comparison"},
         {R"({"a":[{"b":true}]})", "{.a[?(@.b<true)]}", "error: invalid type for comparison"}});
}

// Each range finds the object itself and all below it.
TEST(JsonPath, EndsAlsoWhereRangesMultiplyEachOther) {
  std::string ranges;
  for (int i = 0; i < 30; ++i) ranges += "{range ..}x";

  EXPECT_THAT(evaluate(std::string(30, '[') + "1" + std::string(30, ']'), ranges),
              HasSubstr("too much"));
}

}  // namespace
}  // namespace mnet::jsonpath
