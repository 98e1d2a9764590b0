#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shim/shim.h"
#include "wire/wire.h"

namespace mnet::shim {
namespace {

using testing::ElementsAre;
using testing::Pair;

// 03, 12: row 91.
TEST(ShimRequest, CarriesOnlyCniVariablesAndPath) {
  const char* const environment[] = {"CNI_X=b=c", "SECRET=s",   "PATH=/bin", " CNI_NETNS =/n",
                                     "=odd",      "CNI_EMPTY=", "NOVALUE",   "PATHS=/no",
                                     "CNI",       nullptr};

  const wire::Request request = make_request(environment, "{}");

  EXPECT_THAT(request.env, ElementsAre(Pair("CNI_X", "b=c"), Pair("PATH", "/bin"),
                                       Pair("CNI_NETNS", "/n"), Pair("CNI_EMPTY", "")));
  EXPECT_EQ(request.config, "{}");
  EXPECT_FALSE(request.attributes.has_value());
}

// The original's daemon refuses a DEL without the variable.
TEST(ShimRequest, AlwaysNamesANetworkNamespace) {
  const char* const environment[] = {"CNI_COMMAND=DEL", nullptr};

  EXPECT_THAT(make_request(environment, "").env,
              ElementsAre(Pair("CNI_COMMAND", "DEL"), Pair("CNI_NETNS", "")));
}

// As getenv() finds it, which is what the checks of the command saw.
TEST(ShimRequest, TakesTheFirstOfEqualVariables) {
  const char* const environment[] = {"CNI_NETNS=first", "CNI_NETNS=second", nullptr};

  EXPECT_EQ(to_text(make_request(environment, "")), R"({"env":{"CNI_NETNS":"first"}})");
}

}  // namespace
}  // namespace mnet::shim
