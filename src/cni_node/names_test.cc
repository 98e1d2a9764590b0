#include "cni_node/names.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>

#include "base/text.h"

namespace mnet::cni_node {
namespace {

std::string shown(std::string_view text) {
  const auto lists = parse_lists(text);
  if (!lists) return lists.error().text();
  const Difference all = difference(*lists);
  return cat("+", join(all.added, ","), " -", join(all.removed, ","));
}

struct Case {
  std::string_view text, result;
  friend std::ostream& operator<<(std::ostream& out, const Case& one) {
    return out << go_quoted(one.text);
  }
};
class ListDifference : public testing::TestWithParam<Case> {};

TEST_P(ListDifference, IsByWholeNames) { EXPECT_EQ(shown(GetParam().text), GetParam().result); }

// 04, 4: rows 16 to 24.
INSTANTIATE_TEST_SUITE_P(
    Lists, ListDifference,
    testing::Values(
        Case{"multus-cni,macvlan:host-device,multus-cni,ipvlan", "+macvlan -host-device,ipvlan"},
        Case{"vlan:vlan,macvlan", "+ -macvlan"}, Case{"vlan,macvlan:vlan", "+macvlan -"},
        Case{"a.b:a.b,axb", "+ -axb"}, Case{"a+b:", "+a+b -"}, Case{"a+b:aab", "+a+b -aab"},
        Case{"macvlan", "+macvlan -"}, Case{":macvlan", "+ -macvlan"},
        Case{"macvlan:", "+macvlan -"}, Case{":", "+ -"}, Case{"", "+ -"},
        Case{"a:b:c", "More than one ':' in a list: a:b:c"},
        Case{"a::", "More than one ':' in a list: a::"},
        Case{" macvlan ,\n ipvlan,,", "+macvlan,ipvlan -"}, Case{"a\tb\r\nc : d\n", "+a,b,c -d"},
        Case{"macvlan,macvlan", "+macvlan -"}, Case{"a,a:b,b", "+a -b"}, Case{"a,b:b,a", "+ -"}));

// 04, 4: rows 11 to 13 and 25.
TEST(Names, RefuseWhatIsNoPlainFileName) {
  for (const std::string_view name :
       {"../evil", "/etc/passwd", "a/b",  "..",    ".",        "..data", ".hidden",
        "-x",      "--plugins",   "*",    "a*",    "a?",       "[a]",    "+a",
        "@a",      "a$b",         "a\\b", "a\x01", "\xc3\xa4", "a;b",    "a%b"}) {
    EXPECT_EQ(shown(name), cat("Invalid name: ", name));
    EXPECT_EQ(shown(cat("good:", name)), cat("Invalid name: ", name));
  }
  EXPECT_FALSE(is_valid_name(std::string_view("a\0b", 3)));
  EXPECT_FALSE(is_valid_name(""));
  EXPECT_FALSE(is_valid_name(std::string(201, 'a')));
}

TEST(Names, TakeEverythingElse) {
  for (const std::string_view name :
       {"macvlan", "05-multus-cni.conf", "a.b", "a+b", "a@b", "_a", "0", "A..b", "a-", "a_b."}) {
    EXPECT_TRUE(is_valid_name(name)) << name;
  }
  EXPECT_TRUE(is_valid_name(std::string(200, 'a')));
}

TEST(Pins, BelongToPluginsAndAreHashes) {
  const std::string a(64, 'a'), b(64, 'b');
  const auto lists =
      parse_lists("x=sha256-" + a + ",y:x=sha256-" + b + ",y=sha256-" + b, Pinning::kAllowed)
          .value();

  EXPECT_EQ(lists.desired, (Names{"x", "y"}));
  EXPECT_EQ(pin_of(lists.pins, "x"), a);
  EXPECT_EQ(pin_of(lists.pins, "y"), "");
  EXPECT_EQ(difference(lists).added, Names{"x"});
  EXPECT_EQ(difference(lists).removed, Names());
  EXPECT_FALSE(parse_lists("x=sha256-" + a).has_value());
  for (const std::string& bad :
       {std::string("x="), std::string("x=sha256-"), "x=sha1-" + a, "x=sha256-" + a + "0",
        "=sha256-" + a, "x=sha256-" + std::string(64, 'A')}) {
    EXPECT_EQ(parse_lists(bad, Pinning::kAllowed).error().text(), "Invalid name: " + bad);
  }
}

}  // namespace
}  // namespace mnet::cni_node
