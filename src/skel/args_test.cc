#include "skel/args.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace mnet::skel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;

std::string error_of(std::string_view text) {
  return parse_plugin_args(text, {"K"}).error().text();
}

// P46.
TEST(PluginArgs, RefusesPiecesWithoutExactlyOneEqualsSign) {
  EXPECT_EQ(error_of("A"), R"(ARGS: invalid pair "A")");
  EXPECT_EQ(error_of("IgnoreUnknown=1;"), R"(ARGS: invalid pair "")");
  EXPECT_EQ(error_of("A=b=c"), R"(ARGS: invalid pair "A=b=c")");
}

// P46.
TEST(PluginArgs, RefusesUnknownKeysUnlessToldToIgnoreThem) {
  EXPECT_EQ(error_of("A=1"), R"(ARGS: unknown args ["A=1"])");
  EXPECT_EQ(error_of("A=1;k=2;IgnoreUnknown=false"), R"(ARGS: unknown args ["A=1" "k=2"])");
  EXPECT_THAT(error_of("IgnoreUnknown=yes"),
              StartsWith(R"(ARGS: error parsing value of pair "IgnoreUnknown=yes": )"));

  EXPECT_THAT(*parse_plugin_args("A=1;IgnoreUnknown=TRUE;K=v", {"K"}), ElementsAre(Pair("K", "v")));
  EXPECT_THAT(*parse_plugin_args("", {"K"}), IsEmpty());
}

}  // namespace
}  // namespace mnet::skel
