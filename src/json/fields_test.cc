#include "json/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/json.h"

namespace mnet::json {
namespace {

using testing::ElementsAre;

TEST(Fields, ReadsKnownMembersInAnyLetterCaseAndLeavesDefaultsForNull) {
  const auto object =
      parse_object(R"({"NAME":"x","port":null,"on":true,"list":["a","b"],"more":1})").value();
  std::string name;
  std::int64_t port = 80;
  std::optional<std::int64_t> more, none;
  bool on = false;
  std::vector<std::string> list;

  Fields fields(object);
  fields.read("name", name);
  fields.read("port", port);
  fields.read("on", on);
  fields.read("list", list);
  fields.read("more", more);
  fields.read("none", none);

  ASSERT_TRUE(fields.done().has_value());
  EXPECT_EQ(name, "x");
  EXPECT_EQ(port, 80);
  EXPECT_TRUE(on);
  EXPECT_THAT(list, ElementsAre("a", "b"));
  EXPECT_EQ(more, 1);
  EXPECT_EQ(none, std::nullopt);
}

TEST(Fields, NamesThePathOfTheFirstOffendingField) {
  const auto object = parse_object(R"({"a":{"ips":["x",5]},"b":"no"})").value();
  std::vector<std::string> ips;
  bool b = false;

  Fields fields(object);
  fields.object("a", [&](const Object& inner, std::string path) {
    Fields in(inner, std::move(path));
    in.read("ips", ips);
    return in.done();
  });
  fields.read("b", b);

  ASSERT_FALSE(fields.done().has_value());
  EXPECT_EQ(fields.done().error().text(), "a.ips[1]: expected a string, got a number");
}

TEST(Fields, RefusesFractionsWhereAnIntegerIsMeant) {
  const auto object = parse_object(R"({"mtu":1.0})").value();
  std::int64_t mtu = 0;

  Fields fields(object);
  fields.read("mtu", mtu);

  EXPECT_EQ(fields.done().error().text(), "mtu: expected an integer, got 1.0");
}

TEST(FindRespelled, FindsOnlyKnownKeys) {
  constexpr std::array<std::string_view, 2> kKnown = {"name", "ips"};
  const auto found = [&](const char* text) {
    return find_respelled(parse_object(text).value(), kKnown);
  };

  EXPECT_EQ(found(R"({"name":1,"x":2,"X":3,"ips":4})"), "");
  EXPECT_EQ(found(R"({"name":1,"ips":2,"NAME":3})"), "name");
  EXPECT_EQ(found("{\"ip\xc5\xbf\":1,\"IPs\":2}"), "ips");
}

}  // namespace
}  // namespace mnet::json
