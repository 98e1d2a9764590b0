#include "cni/args.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mnet::cni {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(Args, AreJoinedInTheOrderGivenWithDuplicatesKept) {
  EXPECT_EQ(args_text({{"A", "1"}, {"B", "2"}, {"A", ""}}), "A=1;B=2;A=");
  EXPECT_EQ(args_text({}), "");
}

TEST(Args, SplitAtTheFirstEqualsSign) {
  EXPECT_THAT(parse_args("A=b=c;B=;=x").value(),
              ElementsAre(Pair("A", "b=c"), Pair("B", ""), Pair("", "x")));
  EXPECT_THAT(parse_args("").value(), IsEmpty());
}

TEST(Args, RefuseAPieceWithoutEqualsSign) {
  EXPECT_EQ(parse_args("A").error().text(), "ARGS: invalid pair \"A\"");
  EXPECT_EQ(parse_args("A=1;").error().text(), "ARGS: invalid pair \"\"");
  EXPECT_EQ(parse_args(";A=1").error().text(), "ARGS: invalid pair \"\"");
}

TEST(Args, AreFoundByExactKeyTheLastOneCounting) {
  const ArgPairs pairs{{"A", "1"}, {"a", "2"}, {"A", "3"}};

  ASSERT_NE(find_arg(pairs, "A"), nullptr);
  EXPECT_EQ(*find_arg(pairs, "A"), "3");
  EXPECT_EQ(find_arg(pairs, "B"), nullptr);
}

}  // namespace
}  // namespace mnet::cni
