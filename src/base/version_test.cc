#include "base/version.h"

#include <gtest/gtest.h>

#include <string>

namespace mnet {
namespace {

TEST(UserAgent, NamesProgramAndVersion) {
  const std::string name = user_agent("multus-daemon");

  EXPECT_EQ(name, "multus-daemon/" + std::string(build_version().version));
  EXPECT_EQ(name.find_first_of(" \n"), std::string::npos);
  EXPECT_FALSE(build_version().version.empty());
}

}  // namespace
}  // namespace mnet
