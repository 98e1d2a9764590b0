#include "http/target.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace mnet::http {
namespace {

TEST(PathOfTarget, DropsTheQueryAndWhatIsBeforeThePath) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"/cni", "/cni"},
      {"/cni?x=1", "/cni"},
      {"/cni?", "/cni"},
      {"http://dummy/cni", "/cni"},
      {"HTTP://dummy:80/cni?x=/y", "/cni"},
      {"http://dummy", "/"},
      {"http://dummy?x", "/"},
      {"*", "*"},
  };

  for (const auto& [target, path] : cases) {
    const auto got = path_of_target(target);
    ASSERT_TRUE(got.has_value()) << target;
    EXPECT_EQ(*got, path) << target;
  }
}

TEST(PathOfTarget, DecodesPercentSignsOnce) {
  EXPECT_EQ(path_of_target("/%63ni").value(), "/cni");
  EXPECT_EQ(path_of_target("/a%2Fb%2f").value(), "/a/b/");
  EXPECT_EQ(path_of_target("/%2563ni").value(), "/%63ni");
  EXPECT_EQ(path_of_target("/a+b").value(), "/a+b");
}

TEST(PathOfTarget, LeavesAnUncleanPathAsItIs) {
  for (const char* path : {"//cni", "/cni/", "/./cni", "/a/../cni", "/CNI"}) {
    EXPECT_EQ(path_of_target(path).value(), path);
  }
}

TEST(PathOfTarget, RefusesWhatNamesNoPath) {
  for (const char* target : {"", "cni", "ftp://x/cni", "/%", "/%6", "/%zz", "localhost:80"}) {
    EXPECT_FALSE(path_of_target(target).has_value()) << target;
  }
}

}  // namespace
}  // namespace mnet::http
